/** Marks words in a text as the daemon's search finds them: case and accents make no difference. */
import { foldedText } from '@svc/api';

/** `text` with every place of a word painted. */
export const markWords = (text: string, words: readonly string[], paint: (found: string) => string): string => {
  const wanted = words.map(foldedText).filter((word) => word !== '');
  const letters = [...text];
  // Letter by letter, for folding may change how many there are.
  const origin: number[] = [];
  let folded = '';
  for (const [index, letter] of letters.entries()) {
    const one = foldedText(letter);
    for (let unit = 0; unit < one.length; unit++) origin.push(index);
    folded += one;
  }
  const marked = new Set<number>();
  for (const word of wanted)
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) for (let unit = at; unit < at + word.length; unit++) marked.add(origin[unit] ?? 0);
  let [out, open] = ['', ''];
  for (const [index, letter] of letters.entries()) {
    if (marked.has(index)) open += letter;
    else {
      out += (open === '' ? '' : paint(open)) + letter;
      open = '';
    }
  }
  return out + (open === '' ? '' : paint(open));
};
