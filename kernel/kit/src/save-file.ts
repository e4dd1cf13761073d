/** How long a browser may take to begin reading what is saved. */
const READ_MS = 10_000;

/** Gives the reader a text as a file to keep. */
export const saveFile = (name: string, type: string, text: string): void => {
  const href = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), READ_MS);
};
