/** Commands in the words of a person: `npx svc …` in a checkout, `svc …` where it is installed. */
import { asTyped, commandName } from '@svc/platform/config/command-name';

let name: string | undefined;

/** `text` with every command in it as it can be typed here. */
export const typed = (text: string): string => {
  if (!text.includes('svc ')) return text;
  name ??= commandName(process.env);
  return asTyped(text, name);
};
