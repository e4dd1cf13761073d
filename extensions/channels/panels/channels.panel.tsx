/** Channels: what is connected, who answers, who may write, and what was written. */
import { ago, Badge, Button, type Column, confirmed, count, daemon, definePanel, IconButton, may, notify, PanelBody, PanelHead, Shown, Table, useFresh, useLoaded, useState } from '@svc/kit';
import { Bindings, Deliveries, Senders } from './channels/lists.js';
import { CHANNEL_LOOKS } from './channels/looks.js';
import { type Channel, SetupDialog } from './channels/setup-dialog.js';
import { t } from './channels/words.js';

const LONG_MS = 30_000;

const Channels = () => {
  const loaded = useLoaded('channels', (signal) => daemon.call('listChannels', {}, { signal }));
  const [open, setOpen] = useState<Channel>();
  useFresh(loaded.reload, ['channels']);
  const reconnect = async (): Promise<void> => {
    await daemon.call('reloadChannels', {}, { timeoutMs: LONG_MS });
    notify(t('reloaded'));
    loaded.reload();
  };
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} actions={may('channels.admin') && <Button onPress={reconnect}>{t('reload')}</Button>} />
      <PanelBody>
        <div class="stack">
          <Shown of={loaded} lines={6}>
            {({ channels }) => <Table label={t('title')} columns={columnsOf(setOpen, loaded.reload)} rows={channels} keyOf={({ name }) => name} />}
          </Shown>
          <Bindings />
          {may('channels.admin') && <Senders />}
          <Deliveries />
        </div>
      </PanelBody>
      {open && (
        <SetupDialog
          channel={open}
          onClose={() => setOpen(undefined)}
          onDone={() => {
            setOpen(undefined);
            loaded.reload();
          }}
        />
      )}
    </>
  );
};

const test = async ({ name }: Channel): Promise<void> => {
  const { message, fix } = await daemon.call('testChannel', { name, body: {} }, { timeoutMs: LONG_MS });
  notify(fix === undefined ? message : `${message} ${fix}`);
};

const remove = async ({ name, display_name: shown }: Channel, reload: () => void): Promise<void> => {
  if (!(await confirmed({ title: t('remove_named', { name: shown }), text: t('remove_ask'), action: t('remove'), isDangerous: true }))) return;
  await daemon.call('removeChannel', { name });
  notify(t('removed'));
  reload();
};

const columnsOf = (onOpen: (channel: Channel) => void, reload: () => void): ReadonlyArray<Column<Channel>> => [
  {
    id: 'channel',
    title: t('channel'),
    cell: ({ display_name: name, description, webhook_endpoint: path, configured, warnings }) => (
      <>
        <bdi>{name}</bdi>
        <div class="muted small-text">{configured && path !== null ? t('endpoint', { path }) : description}</div>
        {warnings.map((warning) => (
          <div key={warning} class="muted small-text">
            {warning}
          </div>
        ))}
      </>
    ),
  },
  { id: 'state', title: t('state'), cell: (channel) => <State channel={channel} /> },
  { id: 'messages', title: t('messages'), align: 'end', cell: ({ msgs_24h: messages }) => count(messages) },
  { id: 'last', title: t('last'), cell: ({ last_message_at: at }) => (at === null ? t('never') : ago(at)) },
  { id: 'actions', title: t('actions'), align: 'end', cell: (channel) => may('channels.admin') && <Actions channel={channel} onOpen={onOpen} reload={reload} /> },
];

const State = ({ channel: { state, last_error: error, fix } }: { channel: Channel }) => {
  const [tone, icon] = CHANNEL_LOOKS[state];
  return (
    <>
      <Badge tone={tone} icon={icon}>
        {t(state)}
      </Badge>
      {error !== null && <div class="muted small-text">{`${error} ${fix ?? ''}`}</div>}
    </>
  );
};

const Actions = ({ channel, onOpen, reload }: { channel: Channel; onOpen: (channel: Channel) => void; reload: () => void }) => (
  <div class="row">
    {channel.in_config ? <span class="muted small-text">{t('in_config')}</span> : <Button onPress={() => onOpen(channel)}>{t(channel.configured ? 'change' : 'set_up')}</Button>}
    {channel.configured && <IconButton icon="play" label={t('test_named', { name: channel.display_name })} onPress={() => test(channel)} />}
    {channel.configured && !channel.in_config && <IconButton icon="trash-2" label={t('remove_named', { name: channel.display_name })} onPress={() => remove(channel, reload)} />}
  </div>
);

export const panel = definePanel({ view: Channels });
