/** "Did you mean": the known words that look most like a mistyped one. */

/** Words longer than this are not compared: nobody mistypes so much. */
const MAX_WORD_LENGTH = 64;

/** Up to `count` candidates within a third of the word's length in edits, or that begin alike; nearest first. */
export const nearest = (word: string, candidates: readonly string[], count = 3): string[] => {
  if (word.length > MAX_WORD_LENGTH) return [];
  const wanted = word.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  return candidates
    .map((candidate) => ({ candidate, edits: editDistance(wanted, candidate.toLowerCase().slice(0, MAX_WORD_LENGTH)) }))
    .filter(({ candidate, edits }) => edits <= limit || (wanted.length > 2 && candidate.toLowerCase().startsWith(wanted)))
    .sort((a, b) => a.edits - b.edits || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, count)
    .map(({ candidate }) => candidate);
};

/** Insertions, deletions, replacements and swaps of neighbours between two short words. */
const editDistance = (a: string, b: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let edits = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) edits = Math.min(edits, (beforeLast[column - 2] ?? 0) + 1);
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? a.length;
};
