/** Arguments of a prompt, as people write them behind its name. */

/** `a=1 b="two words"`; anything else is the value of the first argument. */
export const promptArguments = (text: string, names: readonly string[]): Record<string, string> => {
  const values: Record<string, string> = {};
  let rest = text.trim();
  for (;;) {
    const [whole, name = '', quoted, plain = ''] = /^([A-Za-z0-9_.-]{1,100})=(?:"((?:[^"\\]|\\.)*)"|(\S*))(?=\s|$)\s*/.exec(rest) ?? [];
    if (whole === undefined || !names.includes(name)) break;
    values[name] = quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, '$1');
    rest = rest.slice(whole.length);
  }
  const free = names.find((name) => values[name] === undefined);
  if (rest !== '' && free !== undefined) values[free] = rest;
  return values;
};
