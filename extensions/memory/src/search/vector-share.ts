/** What vectors add: in how many of the last searches they found what words did not. */
export interface VectorShare {
  note(foundMore: boolean): void;
  readonly standing: { readonly searches: number; readonly more: number };
}

const LAST = 200;

export const createVectorShare = (): VectorShare => {
  const last: boolean[] = [];
  return {
    note: (foundMore) => {
      last.push(foundMore);
      if (last.length > LAST) last.shift();
    },
    get standing() {
      return { searches: last.length, more: last.filter(Boolean).length };
    },
  };
};
