/** What a link carries: enough to play the same streams into the same model again. */
export interface Settings {
  source: string;
  /** Null: the source's usual one. */
  seed: number | null;
  speed: number;
  /** Of the first stream, the second, …; the last holds for all that come. */
  sensitivity: number[];
  /** So many streams are played at once, at full speed; then the page pauses. */
  streams: number;
}

export const DEFAULTS: Settings = { source: 'digits', seed: null, speed: 1, sensitivity: [1], streams: 0 };
export const SPEEDS = [0.5, 1, 2, 4, 16];
const MOST_STREAMS = 100;
const MOST_SEED = 0xffffffff;
/** The slider's range; it goes by half powers of 2. */
const [LEAST_POWER, MOST_POWER] = [-2, 4];

/** The slider's place for a sensitivity, and what that place stands for. */
export const powerOf = (sensitivity: number): number =>
  Math.max(LEAST_POWER, Math.min(MOST_POWER, Math.round(2 * Math.log2(sensitivity)) / 2));
export const sensitivityOf = (power: number): number => 2 ** power;

/** The settings of an address's query. What it says wrongly is said in `complaints`, and the default holds. */
export function readSettings(query: string, sources: readonly string[]): { settings: Settings; complaints: string[] } {
  const given = new URLSearchParams(query);
  const complaints: string[] = [];
  const take = <T>(name: keyof Settings, read: (text: string) => T | undefined, wanted: string): T | undefined => {
    const text = given.get(name);
    if (text === null) return undefined;
    const value = read(text);
    if (value === undefined) complaints.push(`The link's ${name} “${text.slice(0, 40)}” is not ${wanted}.`);
    return value;
  };
  const whole =
    (most: number) =>
    (text: string): number | undefined =>
      /^\d{1,10}$/.test(text) && Number(text) <= most ? Number(text) : undefined;
  const factors = (text: string): number[] | undefined => {
    const values = text.split(',').map((part) => (part.trim() === '' ? NaN : Number(part)));
    const fine = values.every((value) => value >= sensitivityOf(LEAST_POWER) && value <= sensitivityOf(MOST_POWER));
    return fine && values.length <= MOST_STREAMS ? values.map((value) => sensitivityOf(powerOf(value))) : undefined;
  };
  const among = (text: string): string | undefined => sources.find((source) => source === text);
  return {
    settings: {
      source: take('source', among, `one of ${sources.join(', ')}`) ?? DEFAULTS.source,
      seed: take('seed', whole(MOST_SEED), `a whole number up to ${MOST_SEED}`) ?? DEFAULTS.seed,
      speed:
        take('speed', (text) => SPEEDS.find((speed) => speed === Number(text)), `one of ${SPEEDS.join(', ')}`) ?? DEFAULTS.speed,
      sensitivity: take('sensitivity', factors, 'a number from 0.25 to 16, or a list of them') ?? DEFAULTS.sensitivity,
      streams: take('streams', whole(MOST_STREAMS), `a whole number up to ${MOST_STREAMS}`) ?? DEFAULTS.streams,
    },
    complaints,
  };
}

/** The query that readSettings() reads back; what is as ever is left out. */
export function writeSettings(settings: Settings): string {
  const { source, seed, speed, streams } = settings;
  const factors = settings.sensitivity.map((value) => String(Number(value.toFixed(4))));
  while (factors.length > 1 && factors.at(-1) === factors.at(-2)) factors.pop();
  const parts: string[] = [];
  if (source !== DEFAULTS.source) parts.push(`source=${encodeURIComponent(source)}`);
  if (seed !== null) parts.push(`seed=${seed}`);
  if (factors.join() !== '1') parts.push(`sensitivity=${factors.join()}`);
  if (speed !== DEFAULTS.speed) parts.push(`speed=${speed}`);
  if (streams > 0) parts.push(`streams=${streams}`);
  return `?${parts.join('&')}`;
}
