/** Figures out of the metrics of the daemon, which come as Prometheus text. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

const unescaped = (text: string): string => text.replaceAll(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign));

export const samplesOf = (text: string): Sample[] =>
  text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    return [{ name, labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, label = '', said = '']) => [label, unescaped(said)])), value: Number(value) }];
  });

/** Undefined where nobody tells it: its area is off, or it is not for this caller. */
export const figureOf = (samples: readonly Sample[], name: string): number | undefined => {
  const own = samples.filter((sample) => sample.name === name);
  return own.length === 0 ? undefined : own.reduce((sum, { value }) => sum + value, 0);
};

/** Ids of all that are installed. */
export const extensionsOf = (samples: readonly Sample[]): string[] =>
  samples.flatMap(({ name, labels: { extension } }) => (name === 'svc_extension_active' && extension !== undefined ? [extension] : []));
