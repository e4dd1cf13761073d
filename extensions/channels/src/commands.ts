/** `svc channels` and `svc bindings`: all of it is data. */
import type { CommandDecl, CommandWordDecl } from '@svc/api';

export const commandWords: readonly CommandWordDecl[] = [
  {
    word: 'channels',
    summary: 'channels: Telegram, Discord, Slack, Matrix, e-mail, …',
    usage: 'channels list|show|setup|test|allow|senders|deliveries|reload|remove',
    order: 36,
    synonyms: [{ word: 'channel', means: 'channels', runs: true, takesArguments: true }],
  },
  { word: 'bindings', summary: 'which agent answers in which chat', usage: 'bindings list|add|remove', order: 37 },
];

export const commands: readonly CommandDecl[] = [
  {
    command: 'channels list',
    summary: 'list the channels',
    operation: 'listChannels',
    output: {
      kind: 'table',
      rows: 'channels',
      empty: 'There are no channels.',
      columns: [
        { field: 'name', title: 'CHANNEL' },
        { field: 'state' },
        { field: 'messages_received', title: 'RECEIVED', format: 'number' },
        { field: 'messages_sent', title: 'SENT', format: 'number' },
        { field: 'last_error', title: 'ERROR', shrinks: true },
      ],
    },
  },
  {
    command: 'channels registry',
    summary: 'list the platforms that have a name',
    operation: 'listChannelPlatforms',
    output: { kind: 'table', empty: 'There are no platforms.', columns: [{ field: 'id', title: 'PLATFORM' }, { field: 'name' }, { field: 'category' }, { field: 'protocol' }, { field: 'status' }] },
  },
  { command: 'channels show', summary: 'show one channel', operation: 'getChannel', args: ['name'], output: { kind: 'record' } },
  { command: 'channels setup', summary: 'configure a channel', operation: 'configureChannel', args: ['name'], output: { kind: 'line', text: 'Configured {channel}. {note}' } },
  {
    command: 'channels setup-sidecar',
    summary: 'store the values of a sidecar channel',
    operation: 'configureSidecarChannel',
    args: ['name'],
    output: { kind: 'line', text: 'Saved. {hot_actions_applied}' },
  },
  {
    command: 'channels remove',
    summary: 'remove the configuration of a channel, with its secrets',
    operation: 'removeChannel',
    args: ['name'],
    confirm: 'Remove the channel {name}?',
    output: { kind: 'line', text: 'Removed {channel}.' },
  },
  { command: 'channels test', summary: 'ask a platform whether the settings work', operation: 'testChannel', args: ['name'], output: { kind: 'line', text: '{status}: {message}' } },
  { command: 'channels reload', summary: 'connect all channels anew', operation: 'reloadChannels', output: { kind: 'line', text: 'Reloaded. {started}' } },
  { command: 'channels qr', summary: 'start signing in to WhatsApp by QR code', operation: 'startWhatsappQr', output: { kind: 'line', text: '{message}' } },
  { command: 'channels qr-status', summary: 'show how far that sign-in is', operation: 'getWhatsappQrStatus', output: { kind: 'record' } },
  {
    command: 'bindings list',
    summary: 'list which agent answers where',
    operation: 'listBindings',
    output: {
      kind: 'table',
      rows: 'bindings',
      empty: 'There are no bindings: each channel has its own agent, or your first one.',
      columns: [
        { field: 'index' },
        { field: 'agent' },
        { field: 'match_rule.channel', title: 'CHANNEL' },
        { field: 'match_rule.peer_id', title: 'CHAT' },
        { field: 'match_rule.guild_id', title: 'SERVER' },
        { field: 'id' },
      ],
    },
  },
  { command: 'bindings add', summary: 'bind a channel or a chat to an agent', operation: 'createBinding', args: ['agent'], output: { kind: 'line', text: 'Created {id}.' } },
  { command: 'bindings remove', summary: 'delete a binding, by position or id', operation: 'deleteBinding', args: ['index'], output: { kind: 'line', text: 'Deleted.' } },
];
