/**
 * Placeholders in prompts.
 *
 * T1  One pass: text that comes in for a placeholder is never read as one.
 * T2  What is unknown stays as it is written.
 */

export interface Variables {
  /** `{{input}}`. */
  readonly input: string;
  readonly values: ReadonlyMap<string, string>;
  /** By step, for `{{step.field}}`. */
  readonly steps: ReadonlyMap<string, { readonly output: string; readonly input: string; readonly agent: string; readonly duration_ms: number }>;
}

const PLACEHOLDER = /\{\{([^{}]{1,200})\}\}/g;

export const render = (template: string, variables: Variables): string => template.replaceAll(PLACEHOLDER, (whole, name: string) => valueNamed(name, variables) ?? whole);

const valueNamed = (name: string, { input, values, steps }: Variables): string | undefined => {
  const known = values.get(name);
  if (known !== undefined) return known;
  if (name === 'input') return input;
  const [step = '', ...rest] = name.split('.');
  const done = steps.get(step);
  if (!done) return undefined;
  const field = rest.join('.');
  if (field === '' || field === 'output') return done.output;
  return fieldOf(done.output, field) ?? (field === 'input' ? done.input : field === 'agent' ? done.agent : field === 'duration_ms' ? String(done.duration_ms) : undefined);
};

/** A key of an output that is a JSON object. */
const fieldOf = (output: string, field: string): string | undefined => {
  if (!output.trimStart().startsWith('{')) return undefined;
  const object = parsed(output);
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, field)) return undefined;
  return textOf((object as Record<string, unknown>)[field]);
};

/** Undefined for what is no JSON. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A value as a prompt shows it: null is nothing, what is not a text is compact JSON. */
export const textOf = (value: unknown): string => (value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value));

/** The text of an input, and the variables of its keys where it is an object. */
export const inputOf = (input: unknown): { readonly text: string; readonly values: ReadonlyMap<string, string> } => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return { text: textOf(input), values: new Map() };
  // `{{input}}` is what the step before gave, so it is no variable.
  const entries = Object.entries(input).filter(([key]) => key !== 'input');
  const own = (input as Record<string, unknown>).input;
  return { text: typeof own === 'string' ? own : JSON.stringify(input), values: new Map(entries.map(([key, value]) => [key, textOf(value)])) };
};
