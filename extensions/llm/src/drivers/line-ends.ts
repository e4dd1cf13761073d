/**
 * Makes every line end of a stream a line feed. The parser of events takes all three kinds, but looks for
 * each of them to the end of what it has: one carriage return among line feeds makes it take the square.
 */
export const createLineEnds = (): ((piece: string) => string) => {
  let wasReturn = false;
  return (piece) => {
    // Told already, as the end of the piece before.
    const text = wasReturn && piece.startsWith('\n') ? piece.slice(1) : piece;
    if (piece !== '') wasReturn = piece.endsWith('\r');
    return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
  };
};
