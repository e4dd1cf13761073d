/** Undefined for what is no URL. `URL.canParse` of Node 20 is no help: once V8 has compiled its caller it says no to every text with a letter such as ü. */
export const parsedUrl = (text: string, base?: string | URL): URL | undefined => {
  try {
    return new URL(text, base);
  } catch {
    return undefined; // the only error that it has
  }
};
