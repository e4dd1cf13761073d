/**
 * What is made of a message or a tool is made once: a conversation is sent again with every message, and only its end is new.
 * Kept for as long as what it was made of, and only for what cannot change any more.
 */
export const remembered = <K extends object, T>(make: (of: K) => T): ((of: K) => T) => {
  const made = new WeakMap<K, { readonly value: T }>();
  return (of) => {
    const known = made.get(of);
    if (known) return known.value;
    const value = make(of);
    if (Object.isFrozen(of)) made.set(of, { value });
    return value;
  };
};
