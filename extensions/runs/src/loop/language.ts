/** What `language` of config.toml says to agents. Models answer in the language that they are asked in, which is why its default says nothing. */
import { defineConfig, Type } from '@svc/api';

const USUAL = 'en';

export const LanguageSetting = defineConfig(
  '/language',
  Type.String({
    default: USUAL,
    maxLength: 35,
    pattern: '^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$',
    description:
      'The language in which agents write unless they are asked to use another one, as a tag such as `de` or `pt-BR`. With `en`, the default, they are told nothing and answer in the language that they are asked in. Texts of the API are always English; the page follows the browser',
  }),
);

const NAMES = new Intl.DisplayNames(['en'], { type: 'language' });

/** Empty where nothing is to be said. A tag without a name is said as it is: models know more of them than this. */
export const languageLine = (tag: string): string => {
  if (tag.toLowerCase() === USUAL) return '';
  const name = nameOf(tag);
  return `Write in ${name === undefined || name === tag ? `the language ${tag}` : `${name} (${tag})`}, unless you are asked to use another language.`;
};

const nameOf = (tag: string): string | undefined => {
  try {
    return NAMES.of(tag);
  } catch {
    return undefined; // it has the form of a tag, and is none
  }
};
