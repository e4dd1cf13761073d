/** Commands in the words of a person: as `svc` was called, or can be typed anywhere. */
import { shippedWords } from '@svc/installer/shipped-words';
import { asTyped, commandName } from '@svc/platform/config/command-name';

let name: string | undefined;
let isCommand: (word: string) => boolean = () => false;

/** Called once, before anything is printed. `more`: first words of commands that were installed. */
export const knowCommands = (distDir: string, more: readonly string[] = []): void => {
  const isShipped = shippedWords(distDir);
  isCommand = (word) => more.includes(word) || isShipped(word);
};

/** `text` with every command in it as it can be typed here. */
export const typed = (text: string): string => {
  if (!text.includes('svc ')) return text;
  name ??= commandName(process.env);
  return asTyped(text, name, isCommand);
};
