/** What a conversation offers to say first. */

/** What the mock provider can do: it reads plain requests in English, whatever the language of the page. */
export const MOCK_TRIES = ['Write hello to notes.txt, then read it', 'List files', 'Calculate 12*(3+4)'] as const;
