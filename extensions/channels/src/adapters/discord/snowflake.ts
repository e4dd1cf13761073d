/** Discord's ids: they grow with time, so that the newest id that was seen says where reading goes on in every chat. */
const EPOCH_MS = 1_420_070_400_000n;
const TIME_BITS = 22n;

export const snowflakeAt = (ms: number): string => ((BigInt(Math.floor(ms)) - EPOCH_MS) << TIME_BITS).toString();

export const isSnowflake = (text: unknown): text is string => typeof text === 'string' && /^\d{1,20}$/.test(text);

export const isAfter = (a: string, b: string): boolean => BigInt(a) > BigInt(b);

export const newestOf = (a: string, b: string): string => (isAfter(a, b) ? a : b);
