/** Vectors as they are stored: whole numbers from -127 to 127, in Base64. Only their direction counts. */

export const packVector = (vector: readonly number[]): string | undefined => {
  const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  if (!(most > 0) || !Number.isFinite(most)) return undefined;
  return Buffer.from(Int8Array.from(vector, (value) => Math.round((value / most) * 127)).buffer).toString('base64');
};

export const unpackVector = (text: string): Int8Array => {
  const bytes = Buffer.from(text, 'base64');
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
};
