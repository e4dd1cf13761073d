/** Whether a text has the form of a UUID, of any version and in either case. */
export const isUuid = (text: string): boolean => UUID.test(text);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** 32 hexadecimal digits in the form of a UUID. */
export const uuidOfHex = (hex: string): string => `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

/** A UUID of version 8 that a digest decides. `hex`: 32 hexadecimal digits or more, of which the first are used. */
export const uuidOfDigest = (hex: string): string => uuidOfHex(`${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17, 32)}`);
