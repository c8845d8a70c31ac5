// Tests of fleets in the package: keys, members, files and errors. Usage: node fleet.mjs PACKAGE
// PROGRAM

import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, program] = process.argv.slice(2).map((path) => resolve(path));
const { Fleet, Model, Monitor, load } = await import(pathToFileURL(join(folder, "index.js")).href);

// Rows of two machines alternate. The flow of the fan is wrong from row 701 on.
const noise = (t) => Math.sin(12.9898 * t * t) * 0.1;
const flow = (t) => 2 * Math.sin(t / 7) + noise(t) + (t > 700 && t % 2 ? 9 : 0);
const rows = Array.from({ length: 900 }, (_, t) => [Math.sin(t / 7), flow(t), noise(t + 0.5)]);
const keys = rows.map((_, t) => ["pump", "fan"][t % 2]);

const fleet = new Fleet(new Monitor({ dim: 3, warmUp: 100, names: ["load", "flow", "level"] }));
const { alarm, key } = fleet.update(keys, rows);
assert.deepEqual([[...fleet], fleet.size, fleet.has("fan"), fleet.get("valve")], [["pump", "fan"], 2, true, undefined]);
assert.equal(alarm.findIndex((is, t) => is && t > 700), 701);
assert.deepEqual([key[701], fleet.openIncidents[0].causes[0][0], fleet.get("fan").rows], ["fan", "flow", 450]);
assert(fleet.report("Plant", "machine").includes("Plant"));
const again = load(fleet.toBytes());
assert(again instanceof Fleet && again.get("fan") instanceof Monitor);
// A loaded fleet starts a new table with its first row.
assert.deepEqual(again.update(keys, rows).score.slice(1), fleet.update(keys, rows).score.slice(1));

const models = new Fleet({ dim: 3, k: 1 });
const { expectedLoss, coordinates } = models.update(keys, Float64Array.from(rows.flat()));
const alone = new Model({ dim: 3, k: 1 }).update(rows.filter((_, t) => t % 2));
assert.deepEqual(expectedLoss.filter((_, t) => t % 2), alone.expectedLoss);
assert.deepEqual([coordinates.length, models.get("pump").rows, models.incidents], [900, 450, undefined]);

const refused = (work, message) => assert.throws(work, { message });
refused(() => models.update(["a"], [1, 2, 3, 4, 5, 6]), /the list of keys/);
refused(() => models.update([null], [1, 2, 3]), /row 0: the key is missing/);
refused(() => models.report(), /report needs a fleet of monitors/);
refused(() => new Fleet({ dim: 3 }), /k must be at least 1/);

const place = mkdtempSync(join(tmpdir(), "eigenhedge-fleet-"));
writeFileSync(join(place, "fleet.eh"), models.toBytes());
const shown = execFileSync(program, ["inspect", join(place, "fleet.eh")], { encoding: "utf8" });
rmSync(place, { recursive: true });
assert(shown.includes("pump") || shown.includes("2 "), shown);
console.log("  ok   fleets in Node, and in the program");
