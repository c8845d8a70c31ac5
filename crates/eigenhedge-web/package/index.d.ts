/** Rows of numbers: one array with row after row, or an array of rows. */
export type Rows = Float64Array | ArrayLike<number> | ReadonlyArray<ArrayLike<number>>;
/** Value of an option, as in Python or on the command line. */
export type OptionValue = string | number | boolean | null;

export interface Incident {
  incident: number;
  start: number;
  reported: number;
  /** Number of the last row, or null while the incident is open. */
  end: number | null;
  severity: number;
  grade: "minor" | "major" | "critical";
  signs: string[];
  rows: number;
  alarms: number;
  peak: number;
  /** Main causes: columns, with their shares of the squared deviations. */
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
  /** Returns the bytes of a file for the command line, Python and the service. */
  toBytes(): Uint8Array;
}

export class Monitor extends Learner {
  constructor(options: { dim: number; names?: string[]; [option: string]: OptionValue | string[] | undefined });
  /** Adds known-good rows to the warm-up. With enough rows, they become the reference. */
  fit(rows: Rows): this;
  /** Scores rows and learns from them. */
  update(rows: Rows): Alarms;
  /** Returns a self-contained HTML page with this title. */
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
  /** Learns rows. Returns the losses of each row before it was learned. */
  update(rows: Rows): { expectedLoss: Float64Array; loss: Float64Array };
  /** Returns the coordinates of rows, k numbers per row. */
  transform(rows: Rows): Float64Array;
  /** Directions, `dim` numbers per direction. */
  readonly components: Float64Array;
  readonly k: number;
  readonly learner: string;
}

/** A model or a monitor for each key. */
export class Fleet extends Learner {
  /** `start` is the monitor with which every key starts, or the options of a model. */
  constructor(start: Monitor | { dim: number; k: number; learner?: string; [option: string]: OptionValue | undefined });
  /** Learns each row with the member of its key. Returns the results of the members. */
  update(
    keys: ArrayLike<string | number>,
    rows: Rows,
  ): (Alarms & { key: string[] }) | { expectedLoss: Float64Array; loss: Float64Array; coordinates: Float64Array };
  /** Returns the keys in order of first occurrence. */
  keys(): string[];
  /** Returns a copy of the member of a key, or undefined for an unknown key. */
  get(key: string | number): Monitor | Model | undefined;
  has(key: string | number): boolean;
  readonly size: number;
  [Symbol.iterator](): Iterator<string>;
  /** Returns a self-contained HTML page. Only for monitors. `by` names the keys. */
  report(title?: string, by?: string): string;
  /** Ended incidents of monitors, or undefined for models. */
  readonly incidents: Incident[] | undefined;
  readonly openIncidents: Incident[] | undefined;
}

/** Reads a saved model, monitor or fleet from its bytes. */
export function load(bytes: Uint8Array): Monitor | Model | Fleet;

/** Monitors tables in memory, like `eigenhedge monitor`. Options are those of the command line. */
export function monitorTable(
  files: Record<string, Uint8Array>,
  options?: Record<string, OptionValue>,
): { table: object; page: string; summary: string; events: string; model: Uint8Array };

/** Learns a model of tables in memory, like `eigenhedge run`. `filled` needs `missing: "fill"`. */
export function runTable(
  files: Record<string, Uint8Array>,
  options?: Record<string, OptionValue>,
): { table: object; page: string; summary: string; coordinates: string; filled?: string; model: Uint8Array };

/** Compares learners on tables in memory, like `eigenhedge compare`. */
export function compareTable(
  files: Record<string, Uint8Array>,
  options?: Record<string, OptionValue>,
): { table: object; page: string; summary: string };
