/** `/link` and `/unlink`, where somebody is signed in: which senders of channels they are. */
import { defineSlashCommand, type SlashCommand } from '@svc/api';
import type { SenderRow } from './contract.js';
import { type Links, nameOfPerson } from './links.js';

export interface SlashDeps {
  readonly links: Pick<Links, 'take' | 'endAll'>;
  /** Writes to the chat in which the code was given. */
  say(row: SenderRow, text: string): Promise<void>;
}

const HOW = 'Write /link to the bot in a private chat, on Telegram, Discord, Slack, Matrix or a sidecar. It answers with a code; write /link CODE here, and that chat acts as you. /unlink ends it.';

export const slashCommands = ({ links, say }: SlashDeps): SlashCommand[] => [
  defineSlashCommand({
    name: 'link',
    usage: '/link [CODE]',
    summary: 'Let a chat on a channel act as you',
    permission: 'channels.write',
    takes: 'text',
    order: 60,
    run: async ({ actor, args }) => {
      if (args === '') return { message: HOW };
      const row = await links.take(actor, args);
      const name = nameOfPerson(row.person_id ?? '');
      await say(row, `You act as ${name} here from now on: what you write is ${name}'s, and ${name} can read it. If you are not ${name}, write /unlink at once.`);
      const who = row.name === '' ? row.sender : `${row.name} (${row.sender})`;
      return {
        message: `${who} on ${row.channel} acts as you from now on: with your agents, your role and your approvals. If that is not you, write /unlink at once.`,
        data: { channel: row.channel, sender: row.sender },
      };
    },
  }),
  defineSlashCommand({
    name: 'unlink',
    usage: '/unlink',
    summary: 'End that chats on channels act as you',
    permission: 'channels.write',
    order: 61,
    run: async ({ actor }) => {
      const count = await links.endAll(actor);
      return { message: count === 0 ? 'No chat was linked to you by a code.' : `${count} ${count === 1 ? 'chat is' : 'chats are'} not linked to you any more.` };
    },
  }),
];
