/** A conversation as a file: Markdown to read, JSON to go on with in another program. */
import { daemon, saveFile } from '@svc/kit';
import type { History } from './live-run.js';
import type { Named } from './conversation.js';
import { t } from './words.js';

const FENCE = '```';

/** A fence that is longer than any in the text. */
const fenced = (text: string, language = ''): string => {
  const longest = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([fence]) => fence.length));
  const fence = longest < FENCE.length ? FENCE : '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
};

const toolText = ({ name, input, result }: NonNullable<History['messages'][number]['tools']>[number]): string =>
  `<details><summary>${name}</summary>\n\n${fenced(JSON.stringify(input, null, 2), 'json')}\n\n${result === undefined ? '' : fenced(result)}\n\n</details>`;

export const markdownOf = ({ messages }: Pick<History, 'messages'>, title: string, agent: string): string => {
  const parts = messages.map(({ role, content, tools = [], images = [], attachments = [], timestamp }) => {
    const who = role.toLowerCase() === 'user' ? t('you') : role.toLowerCase() === 'assistant' ? agent : t('system');
    const files = [...images.flatMap(({ filename }) => filename ?? []), ...attachments.map(({ filename }) => filename)].map((name) => `- ${name}`).join('\n');
    return [`## ${who}`, `*${timestamp}*`, files, content, ...tools.map(toolText)].filter((part) => part !== '').join('\n\n');
  });
  return `${[`# ${title}`, ...parts].join('\n\n')}\n`;
};

/** Of any script, without what file systems refuse. */
const fileName = (name: string): string =>
  name
    .replace(/[\p{C}\\/:*?"<>|]+/gu, ' ')
    .trim()
    .slice(0, 60) || 'conversation';

export const exportConversation = async ({ id, agentId, name }: Named, format: 'markdown' | 'json'): Promise<void> => {
  const [history, { name: agent }] = await Promise.all([daemon.call('getSession', { id: agentId, session_id: id }), daemon.call('getAgent', { id: agentId })]);
  if (format === 'json') saveFile(`${fileName(name)}.json`, 'application/json', `${JSON.stringify(history, null, 2)}\n`);
  else saveFile(`${fileName(name)}.md`, 'text/markdown', markdownOf(history, name, agent));
};
