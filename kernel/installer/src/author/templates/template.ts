/** What a template is given, and what it gives. */

/** One id in the forms that code needs: `acme-weather`, `acme_weather`, `AcmeWeather`. */
export interface Names {
  readonly id: string;
  readonly snake: string;
  readonly pascal: string;
}

export interface TemplateParts {
  readonly description: string;
  /** Of extension.json, beside its head. */
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Lines of the README that say what it does, and how to try it. */
  readonly about: string;
  /** Packages of svc that its sources import beside those that all templates have. */
  readonly needs?: readonly string[];
  /** By path; their text. */
  readonly files: Readonly<Record<string, string>>;
}

export type Template = (names: Names) => TemplateParts;

export const namesFrom = (id: string): Names => ({
  id,
  snake: id.replaceAll('-', '_'),
  pascal: id
    .split('-')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join(''),
});
