/** Rows of numbers: one after the other, or an array of rows. */
export type Rows = Float64Array | ArrayLike<number> | ReadonlyArray<ArrayLike<number>>;
/** Value of an option, as in Python or as on the command line. */
export type OptionValue = string | number | boolean | null;

export interface Incident {
  incident: number;
  start: number;
  reported: number;
  /** Last row, or null while the incident is open. */
  end: number | null;
  severity: number;
  grade: "minor" | "major" | "critical";
  signs: string[];
  rows: number;
  alarms: number;
  peak: number;
  /** Columns to look at first, with their shares. */
  causes: [string, number][];
  sentence: string;
}

export interface Alarms {
  score: Float64Array;
  limit: Float64Array;
  alarm: Uint8Array;
  inIncident: Uint8Array;
}

declare class Learner {
  readonly dim: number;
  readonly rows: number;
  readonly featureNames: string[] | null;
  /** Returns the bytes of a file that the program, Python and the service read. */
  toBytes(): Uint8Array;
}

export class Monitor extends Learner {
  constructor(options: { dim: number; names?: string[]; [option: string]: OptionValue | string[] | undefined });
  /** Adds known-good rows, which are the reference. */
  fit(rows: Rows): this;
  /** Scores rows and learns from them. */
  update(rows: Rows): Alarms;
  /** Returns a self-contained HTML page. */
  report(title?: string): string;
  readonly isReady: boolean;
  readonly limit: number | null;
  readonly directions: number | null;
  readonly lags: number;
  readonly incidents: Incident[];
  readonly openIncidents: Incident[];
}

export class Model extends Learner {
  constructor(options: { dim: number; k: number; learner?: string; [option: string]: OptionValue | undefined });
  /** Learns rows. Returns the losses before each row was learned. */
  update(rows: Rows): { expectedLoss: Float64Array; loss: Float64Array };
  /** Returns the coordinates of rows, k numbers each. */
  transform(rows: Rows): Float64Array;
  /** Directions, `dim` numbers each. */
  readonly components: Float64Array;
  readonly k: number;
  readonly learner: string;
}

/** A model or a monitor for each key. */
export class Fleet extends Learner {
  /** The monitor with which every key starts, or the options of a model. */
  constructor(start: Monitor | { dim: number; k: number; learner?: string; [option: string]: OptionValue | undefined });
  /** Learns every row with the member of its key. Monitors return alarms, models losses and coordinates. */
  update(
    keys: ArrayLike<string | number>,
    rows: Rows,
  ): (Alarms & { key: string[] }) | { expectedLoss: Float64Array; loss: Float64Array; coordinates: Float64Array };
  /** Returns the keys in order of first occurrence. */
  keys(): string[];
  /** Returns a copy of the member of a key, or undefined. */
  get(key: string | number): Monitor | Model | undefined;
  has(key: string | number): boolean;
  readonly size: number;
  [Symbol.iterator](): Iterator<string>;
  /** Returns a self-contained HTML page of a fleet of monitors. */
  report(title?: string, by?: string): string;
  /** Past incidents of monitors, or undefined for models. */
  readonly incidents: Incident[] | undefined;
  readonly openIncidents: Incident[] | undefined;
}

/** Reads a saved model, monitor or fleet from its bytes. */
export function load(bytes: Uint8Array): Monitor | Model | Fleet;

/** Watches tables in memory, like `eigenhedge monitor`. Options have the names of the command line. */
export function monitorTable(
  files: Record<string, Uint8Array>,
  options?: Record<string, OptionValue>,
): { table: object; page: string; summary: string; events: string; model: Uint8Array };

/** Learns tables in memory, like `eigenhedge run`. `filled` is there with `missing: "fill"`. */
export function runTable(
  files: Record<string, Uint8Array>,
  options?: Record<string, OptionValue>,
): { table: object; page: string; summary: string; coordinates: string; filled?: string; model: Uint8Array };

/** Compares learners on tables in memory, like `eigenhedge compare`. */
export function compareTable(
  files: Record<string, Uint8Array>,
  options?: Record<string, OptionValue>,
): { table: object; page: string; summary: string };
