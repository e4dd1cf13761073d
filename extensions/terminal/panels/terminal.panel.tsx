/** A shell in the page. */
import './terminal/terminal.css';
import { Button, confirmed, daemon, definePanel, Empty, type OutputOf, PanelBody, PanelHead, Section, Shown, Table, TextField, useEffect, useLoaded, useRef, useState } from '@svc/kit';
import { Screen, type ScreenMessage } from './terminal/screen.js';
import { t } from './terminal/words.js';

type Window = OutputOf<'listTerminalWindows'>['windows'][number];
interface Chosen {
  readonly key: number;
  readonly window?: string;
}

const Terminal = () => {
  const health = useLoaded('terminal', (signal) => daemon.call('getTerminalHealth', {}, { signal }));
  const [chosen, setChosen] = useState<Chosen>();
  const show = (window?: string): void => setChosen((before) => ({ key: (before?.key ?? 0) + 1, ...(window === undefined ? {} : { window }) }));
  return (
    <>
      <PanelHead
        title={t('title')}
        note={t('note')}
        actions={
          health.data && (
            <Button kind="primary" onPress={() => show()}>
              {chosen ? t('again') : t('connect')}
            </Button>
          )
        }
      />
      <PanelBody>
        <Shown of={health} lines={3}>
          {({ tmux }) => (
            <div class="stack">
              {chosen && <Shell key={chosen.key} window={chosen.window} />}
              {tmux && <Windows onShow={show} />}
            </div>
          )}
        </Shown>
      </PanelBody>
    </>
  );
};

const addressOfSocket = (cols: number, rows: number, window: string | undefined): string => {
  const url = new URL('/api/terminal/ws', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  url.searchParams.set('cols', String(cols));
  url.searchParams.set('rows', String(rows));
  if (window !== undefined) url.searchParams.set('window', window);
  return url.href;
};

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/** The screen first: its size is asked for with the shell. */
const Shell = ({ window }: { window?: string | undefined }) => {
  const [status, setStatus] = useState(t('connecting'));
  const [isLocked, setLocked] = useState(false);
  const [code, setCode] = useState('');
  const port = useRef<MessagePort | undefined>(undefined);
  const socket = useRef<WebSocket | undefined>(undefined);
  useEffect(() => () => socket.current?.close(), []);
  const send = (frame: object): void => {
    if (socket.current?.readyState === WebSocket.OPEN) socket.current.send(JSON.stringify(frame));
  };
  const onFrame = (frame: {
    type: string;
    data?: string;
    binary?: boolean;
    shell?: string;
    pid?: number;
    isRoot?: boolean;
    code?: number | string | null;
    signal?: string | null;
    content?: string;
  }): void => {
    if (frame.type === 'output') port.current?.postMessage(frame.binary ? bytesOf(frame.data ?? '') : frame.data);
    if (frame.type === 'locked') setLocked(true);
    if (frame.type === 'started') {
      setLocked(false);
      setStatus(`${t('running', { shell: frame.shell ?? '', pid: String(frame.pid ?? '') })} ${frame.isRoot ? t('root') : ''}`);
    }
    if (frame.type === 'exit') setStatus(t('ended', { code: String(frame.signal ?? frame.code ?? '') }));
    if (frame.type === 'error') setStatus(frame.content ?? '');
  };
  const connect = (cols: number, rows: number): void => {
    const opened = new WebSocket(addressOfSocket(cols, rows, window));
    socket.current = opened;
    opened.onmessage = ({ data }) => onFrame(JSON.parse(String(data)));
    opened.onclose = ({ wasClean }) => {
      if (!wasClean) setStatus(t('lost'));
    };
  };
  const onMessage = (message: ScreenMessage): void => {
    if (message.type === 'ready') connect(message.cols, message.rows);
    else if (message.type !== 'taken') send(message);
  };
  return (
    <div class="stack">
      <p role="status">{status}</p>
      {isLocked && (
        <form
          class="terminal-actions"
          onSubmit={(event) => {
            event.preventDefault();
            send({ type: 'unlock', code });
            setCode('');
          }}
        >
          <TextField label={t('code')} value={code} onValue={setCode} />
          <Button type="submit">{t('unlock')}</Button>
        </form>
      )}
      <Screen
        onPort={(given) => {
          port.current = given;
        }}
        onMessage={onMessage}
      />
    </div>
  );
};

const Windows = ({ onShow }: { onShow: (window: string) => void }) => {
  const windows = useLoaded('terminal windows', (signal) => daemon.call('listTerminalWindows', {}, { signal }));
  const create = async (): Promise<void> => {
    const { id } = await daemon.call('createTerminalWindow', { body: {} });
    windows.reload();
    onShow(id);
  };
  const remove = async ({ id, name }: Window): Promise<void> => {
    if (!(await confirmed({ title: t('close'), text: t('sure', { name }), action: t('close'), isDangerous: true }))) return;
    await daemon.call('deleteTerminalWindow', { window: id });
    windows.reload();
  };
  return (
    <Section title={t('windows')}>
      <div class="stack">
        <div>
          <Button small icon="plus" onPress={create}>
            {t('window')}
          </Button>
        </div>
        <Shown of={windows} lines={2}>
          {({ windows: rows }) =>
            rows.length === 0 ? (
              <Empty icon="terminal" title={t('windows')}>
                <p>{t('none')}</p>
              </Empty>
            ) : (
              <Table
                label={t('list_of', { what: t('windows') })}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  { id: 'name', title: t('name'), cell: ({ id, name }) => <bdi>{`${name} ${id}`}</bdi> },
                  {
                    id: 'actions',
                    title: t('actions'),
                    align: 'end',
                    cell: (one) => (
                      <>
                        <Button small onPress={() => onShow(one.id)}>
                          {t('open')}
                        </Button>
                        <Button small onPress={() => remove(one)}>
                          {t('close')}
                        </Button>
                      </>
                    ),
                  },
                ]}
              />
            )
          }
        </Shown>
      </div>
    </Section>
  );
};

export const panel = definePanel({ view: Terminal });
