/** First words of the command line's own commands. No extension may take one. */
export const CLI_WORDS = ['start', 'stop', 'restart', 'status', 'ext', 'dev', 'key', 'config', 'storage', 'open', 'doctor', 'logs', 'service', 'completion', 'update', 'reset', 'uninstall'] as const;
export type CliWord = (typeof CLI_WORDS)[number];

/** Other words that the command line understands. */
const OTHER_WORDS: readonly string[] = ['help', 'version', 'health'];

export const isCliWord = (word: string): boolean => OTHER_WORDS.includes(word) || CLI_WORDS.some((one) => one === word);
