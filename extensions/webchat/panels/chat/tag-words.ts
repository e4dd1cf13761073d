/** Tags as somebody types them: words between spaces or commas, with or without a # before each. */

export const tagsIn = (typed: string): readonly string[] => [
  ...new Set(
    typed
      .split(/[\s,，、]+/)
      .map((word) => word.replace(/^#/, '').normalize('NFC').toLowerCase())
      .filter((word) => word !== ''),
  ),
];

/** With this one, or without it where it is there. */
export const withTag = (typed: string, tag: string): string => {
  const tags = tagsIn(typed);
  return (tags.includes(tag) ? tags.filter((one) => one !== tag) : [...tags, tag]).join(' ');
};

const TAG = /^[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}_-]{0,29}$/u;

/** The one tag that these words can be; undefined where they are none or several. */
export const tagOf = (words: string): string | undefined => {
  const [tag, second] = tagsIn(words);
  return second === undefined && tag !== undefined && TAG.test(tag) ? tag : undefined;
};
