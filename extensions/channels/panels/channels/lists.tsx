/** Below the channels: who answers, who may write, and what was written. */
import { ago, Badge, Button, type Column, daemon, Empty, FormDialog, IconButton, may, notify, type OutputOf, Section, Shown, Table, TextField, useFresh, useLoaded, useState } from '@svc/kit';
import { DELIVERY_LOOKS } from './looks.js';
import { t } from './words.js';

type Sender = OutputOf<'listChannelSenders'>['senders'][number];
type Delivery = OutputOf<'listChannelDeliveries'>['deliveries'][number];
type Binding = OutputOf<'listBindings'>['bindings'][number];

export const Senders = () => {
  const loaded = useLoaded('channel senders', (signal) => daemon.call('listChannelSenders', {}, { signal }));
  useFresh(loaded.reload, ['channels']);
  const [isOpen, setOpen] = useState(false);
  const [code, setCode] = useState('');
  const allow = async (): Promise<void> => {
    const { sender } = await daemon.call('allowChannelSender', { body: { code } });
    notify(t('now_allowed', { sender }));
    setOpen(false);
    setCode('');
    loaded.reload();
  };
  const forget = async ({ id }: Sender): Promise<void> => {
    await daemon.call('deleteChannelSender', { id });
    loaded.reload();
  };
  const columns: ReadonlyArray<Column<Sender>> = [
    { id: 'sender', title: t('sender'), cell: ({ sender, name }) => <bdi>{name === '' ? sender : `${name} (${sender})`}</bdi> },
    { id: 'channel', title: t('channel'), cell: ({ channel }) => channel },
    { id: 'state', title: t('state'), cell: ({ state }) => <Badge tone={state === 'allowed' ? 'good' : 'info'}>{t(state)}</Badge> },
    { id: 'actions', title: t('actions'), align: 'end', cell: (row) => <IconButton icon="trash-2" label={t('forget')} onPress={() => forget(row)} /> },
  ];
  return (
    <Section title={t('senders')}>
      <div>
        <Button onPress={() => setOpen(true)}>{t('allow')}</Button>
      </div>
      <Shown of={loaded} lines={3}>
        {({ senders }) =>
          senders.length === 0 ? (
            <Empty icon="user" title={t('senders_none')}>
              <p>{t('senders_none_text')}</p>
            </Empty>
          ) : (
            <Table label={t('list_of', { what: t('senders') })} columns={columns} rows={senders} keyOf={({ id }) => id} />
          )
        }
      </Shown>
      {isOpen && (
        <FormDialog title={t('allow')} action={t('allow_action')} onSubmit={allow} onClose={() => setOpen(false)} canSubmit={code.trim() !== ''}>
          <TextField label={t('code')} hint={t('code_hint')} value={code} onValue={setCode} isNeeded />
        </FormDialog>
      )}
    </Section>
  );
};

const placeOf = ({ match_rule: rule }: Binding): string => [rule.channel ?? t('everywhere'), rule.guild_id, rule.peer_id, ...rule.roles].filter((part) => part !== undefined).join(' · ');

export const Bindings = () => {
  const loaded = useLoaded('bindings', (signal) => daemon.call('listBindings', {}, { signal }));
  useFresh(loaded.reload, ['channels']);
  const [isOpen, setOpen] = useState(false);
  const remove = async ({ id }: Binding): Promise<void> => {
    await daemon.call('deleteBinding', { index: id });
    loaded.reload();
  };
  const columns: ReadonlyArray<Column<Binding>> = [
    { id: 'agent', title: t('agent'), cell: ({ agent }) => <bdi>{agent}</bdi> },
    { id: 'where', title: t('where'), cell: (row) => <bdi>{placeOf(row)}</bdi> },
    ...(may('channels.admin')
      ? [{ id: 'actions', title: t('actions'), align: 'end' as const, cell: (row: Binding) => <IconButton icon="trash-2" label={t('delete')} onPress={() => remove(row)} /> }]
      : []),
  ];
  return (
    <Section title={t('bindings')}>
      <p class="muted">{t('bindings_note')}</p>
      {may('channels.admin') && (
        <div>
          <Button onPress={() => setOpen(true)}>{t('add_binding')}</Button>
        </div>
      )}
      <Shown of={loaded} lines={3}>
        {({ bindings }) =>
          bindings.length === 0 ? (
            <Empty icon="list-tree" title={t('bindings_none')}>
              <p>{t('bindings_none_text')}</p>
            </Empty>
          ) : (
            <Table label={t('list_of', { what: t('bindings') })} columns={columns} rows={bindings} keyOf={({ id }) => id} />
          )
        }
      </Shown>
      {isOpen && (
        <BindingDialog
          onClose={() => setOpen(false)}
          onDone={() => {
            setOpen(false);
            loaded.reload();
          }}
        />
      )}
    </Section>
  );
};

const BindingDialog = ({ onDone, onClose }: { onDone: () => void; onClose: () => void }) => {
  const [agent, setAgent] = useState('');
  const [channel, setChannel] = useState('');
  const [peer, setPeer] = useState('');
  const [guild, setGuild] = useState('');
  const submit = async (): Promise<void> => {
    const rule = { ...(channel === '' ? {} : { channel }), ...(peer === '' ? {} : { peer_id: peer }), ...(guild === '' ? {} : { guild_id: guild }) };
    const { warnings } = await daemon.call('createBinding', { body: { agent, match_rule: rule } });
    for (const warning of warnings) notify(warning);
    onDone();
  };
  return (
    <FormDialog title={t('add_binding')} action={t('add')} onSubmit={submit} onClose={onClose} canSubmit={agent.trim() !== '' && [channel, peer, guild].some((text) => text !== '')}>
      <TextField label={t('agent')} value={agent} onValue={setAgent} isNeeded />
      <TextField label={t('binding_channel')} value={channel} onValue={setChannel} />
      <TextField label={t('binding_peer')} value={peer} onValue={setPeer} />
      <TextField label={t('binding_guild')} value={guild} onValue={setGuild} />
    </FormDialog>
  );
};

export const Deliveries = () => {
  const loaded = useLoaded('channel deliveries', (signal) => daemon.call('listChannelDeliveries', {}, { signal }));
  useFresh(loaded.reload, ['channels']);
  const retry = async ({ id }: Delivery): Promise<void> => {
    await daemon.call('retryChannelDelivery', { id });
    notify(t('retried'));
    loaded.reload();
  };
  const columns: ReadonlyArray<Column<Delivery>> = [
    {
      id: 'message',
      title: t('message'),
      cell: ({ message, reason }) => (
        <>
          <bdi>{message}</bdi>
          {reason !== null && <div class="muted small-text">{reason}</div>}
        </>
      ),
    },
    { id: 'chat', title: t('chat'), cell: ({ channel, chat, sender, direction }) => <bdi>{`${t(direction)} · ${channel} · ${sender ?? chat}`}</bdi> },
    { id: 'state', title: t('state'), cell: ({ status }) => <Badge tone={DELIVERY_LOOKS[status]}>{t(status)}</Badge> },
    { id: 'when', title: t('when'), cell: ({ created_at: at }) => ago(at) },
    {
      id: 'actions',
      title: t('actions'),
      align: 'end',
      cell: (row) => (row.direction === 'outbound' && (row.status === 'failed' || row.status === 'unknown') ? <IconButton icon="rotate-ccw" label={t('retry')} onPress={() => retry(row)} /> : ''),
    },
  ];
  return (
    <Section title={t('deliveries')}>
      <Shown of={loaded} lines={4}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <Empty icon="send" title={t('deliveries_none')}>
              <p>{t('deliveries_none_text')}</p>
            </Empty>
          ) : (
            <Table label={t('list_of', { what: t('deliveries') })} columns={columns} rows={deliveries} keyOf={({ id }) => id} />
          )
        }
      </Shown>
    </Section>
  );
};
