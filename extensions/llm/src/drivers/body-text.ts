/** The JSON of a request, put together from texts that were made before. */

/** Several values as they stand in a JSON list, without its brackets. */
export const listText = (values: readonly unknown[]): string => values.map(jsonText).join();

/** JSON without half of a surrogate pair, as a text that was cut has it: providers refuse the whole request for one. */
export const jsonText = (value: unknown): string => {
  const json = JSON.stringify(value);
  // `JSON.stringify` writes a half as an escape, and whole pairs as they are.
  return json.includes('\\ud') ? json.replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\\ufffd') : json;
};

/** `head` first, then `lists`, whose items are JSON already, one value or several with commas between; an empty item is left out. */
export const bodyText = (head: Readonly<Record<string, unknown>>, lists: Readonly<Record<string, readonly string[]>>): string => {
  const members = Object.entries(lists).map(([name, items]) => `,${JSON.stringify(name)}:[${items.filter((item) => item !== '').join()}]`);
  return `${jsonText(head).slice(0, -1)}${members.join('')}}`;
};
