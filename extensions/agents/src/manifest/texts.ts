/** A list of texts in a manifest: one text is a list of it, none is an empty one. Undefined for anything else. */
export const textsOf = (value: unknown = []): readonly string[] | undefined => {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((item): item is string => typeof item === 'string') ? value : undefined;
};
