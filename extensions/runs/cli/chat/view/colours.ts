/** The colours of this terminal; plain text where they are off. */
import pc from 'picocolors';

export type Colours = ReturnType<typeof pc.createColors>;

export const coloursFor = (isColoured: boolean): Colours => pc.createColors(isColoured);
