/** The JSON of a request, put together from texts that were made before. */

/** Several values as they stand in a JSON list, without its brackets. */
export const listText = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join();

/** `head` first, then `lists`, whose items are JSON already, one value or several with commas between; an empty item is left out. */
export const bodyText = (head: Readonly<Record<string, unknown>>, lists: Readonly<Record<string, readonly string[]>>): string => {
  const members = Object.entries(lists).map(([name, items]) => `,${JSON.stringify(name)}:[${items.filter((item) => item !== '').join()}]`);
  return `${JSON.stringify(head).slice(0, -1)}${members.join('')}}`;
};
