/** What stands in a folder; and how files come into it. */
import { addressOf, ago, Badge, bytes, Button, Empty, go, Icon, may, type Sorting, Table, TextField, useRef, useState, whyNot } from '@svc/kit';
import { NewFile } from './new-file.js';
import { entriesOf, type Entry, type Listing } from './tree.js';
import { upload, type Upload } from './uploads.js';
import { t } from './words.js';

const MAX_LISTED_UPLOADS = 50;

/** One at a time: a question about one that is there stands alone. */
const useUploads = (agentId: string, path: readonly string[], reload: () => void) => {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const last = useRef(0);
  const turn = useRef(Promise.resolve());
  const add = (files: readonly File[]): void => {
    for (const file of files) {
      const id = ++last.current;
      const become = (change: Pick<Upload, 'state' | 'why'>): void => setUploads((before) => before.map((one) => (one.id === id ? { ...one, ...change } : one)));
      setUploads((before) => [...before, { id, name: file.name, state: 'waiting' as const }].slice(-MAX_LISTED_UPLOADS));
      turn.current = turn.current.then(async () => {
        become({ state: 'sending' });
        become(await upload(agentId, path, file));
        reload();
      });
    }
  };
  return { uploads, add, clear: () => setUploads([]) };
};

const Uploads = ({ uploads, onClear }: { uploads: readonly Upload[]; onClear: () => void }) => {
  if (uploads.length === 0) return null;
  return (
    <section class="card" aria-label={t('uploads')}>
      <div role="status">
        <ul class="uploads">
          {uploads.map(({ id, name, state, why }) => (
            <li key={id}>
              <Icon name={state === 'done' ? 'circle-check' : state === 'failed' ? 'circle-alert' : state === 'left' ? 'circle-x' : 'loader-circle'} size={16} spins={state === 'sending'} />
              <span class="grow">
                <bdi>{name}</bdi> <span class="muted">{state === 'failed' ? why : t(state)}</span>
              </span>
            </li>
          ))}
        </ul>
      </div>
      <div>
        <Button small disabled={uploads.some(({ state }) => state === 'waiting' || state === 'sending')} onPress={onClear}>
          {t('clear')}
        </Button>
      </div>
    </section>
  );
};

const OpenByPath = ({ agentId, count }: { agentId: string; count: number }) => {
  const [typed, setTyped] = useState('');
  const open = (event: Event): void => {
    event.preventDefault();
    const path = typed.split('/').filter(Boolean);
    if (path.length > 0) go('files', [agentId, ...path]);
  };
  return (
    <form class="card" onSubmit={open}>
      <p>{t('truncated', { count })}</p>
      <div class="row">
        <div class="grow">
          <TextField bare label={t('open_path')} placeholder={t('open_path')} value={typed} onValue={setTyped} />
        </div>
        <Button type="submit">{t('open')}</Button>
      </div>
    </form>
  );
};

const Rows = ({ agentId, path, entries }: { agentId: string; path: readonly string[]; entries: readonly Entry[] }) => {
  const [sorting, setSorting] = useState<Sorting>();
  return (
    <Table
      label={t('folder', { name: path.at(-1) ?? '/' })}
      rows={entries}
      keyOf={({ name }) => name}
      hrefOf={(entry) => addressOf('files', [agentId, ...entry.path])}
      {...(sorting ? { sorting } : {})}
      onSort={setSorting}
      columns={[
        {
          id: 'name',
          title: t('name'),
          sortBy: ({ name }) => name,
          cell: ({ name, isFolder, isIdentity }) => (
            <span class="file-name">
              <Icon name={isFolder ? 'folder' : 'file'} />
              <span>
                <bdi>{name}</bdi> {isIdentity && <Badge tone="info">{t('identity')}</Badge>}
              </span>
            </span>
          ),
        },
        {
          id: 'size',
          title: t('size'),
          align: 'end',
          sortBy: ({ sizeBytes }) => sizeBytes,
          cell: ({ isFolder, files, sizeBytes }) => <span class="file-fact">{isFolder ? t('files', { count: files }) : bytes(sizeBytes)}</span>,
        },
        { id: 'changed', title: t('changed'), align: 'end', sortBy: ({ modifiedAt }) => modifiedAt, cell: ({ modifiedAt }) => <span class="file-fact">{ago(modifiedAt)}</span> },
      ]}
    />
  );
};

const Tools = ({ onFiles, onNew, reload }: { onFiles: (files: readonly File[]) => void; onNew: () => void; reload: () => void }) => {
  const input = useRef<HTMLInputElement>(null);
  const mayWrite = may('files.write');
  return (
    <div class="row wrap">
      <Button kind="primary" icon="file-plus" disabled={!mayWrite} title={whyNot('files.write')} onPress={onNew}>
        {t('new_file')}
      </Button>
      <Button icon="upload" disabled={!mayWrite} title={whyNot('files.write')} onPress={() => input.current?.click()}>
        {t('upload')}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('choose_files')}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
      <Button kind="quiet" icon="refresh-cw" onPress={reload}>
        {t('refresh')}
      </Button>
    </div>
  );
};

export const FolderView = ({ agentId, path, listing, reload }: { agentId: string; path: readonly string[]; listing: Listing; reload: () => void }) => {
  const [isMaking, setMaking] = useState(false);
  const [isOver, setOver] = useState(false);
  const { uploads, add, clear } = useUploads(agentId, path, reload);
  const entries = entriesOf(listing.files, path);
  const mayWrite = may('files.write');
  const onDrag = (event: DragEvent): void => {
    if (!mayWrite || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    setOver(true);
  };
  const onDrop = (event: DragEvent): void => {
    setOver(false);
    if (!mayWrite || !event.dataTransfer) return;
    event.preventDefault();
    add([...event.dataTransfer.files]);
  };
  return (
    <div class={isOver ? 'folder over' : 'folder'} onDragOver={onDrag} onDragLeave={() => setOver(false)} onDrop={onDrop}>
      <Tools onFiles={add} onNew={() => setMaking(true)} reload={reload} />
      {isOver && <p class="drop-here">{t('drop')}</p>}
      <Uploads uploads={uploads} onClear={clear} />
      {entries.length === 0 ? (
        <Empty icon="folder-open" title={t('empty_title')}>
          <p>{mayWrite ? t('empty_text') : t('empty_read')}</p>
        </Empty>
      ) : (
        <Rows agentId={agentId} path={path} entries={entries} />
      )}
      {listing.truncated && <OpenByPath agentId={agentId} count={listing.files.length} />}
      {isMaking && <NewFile agentId={agentId} folder={path} onClose={() => setMaking(false)} onMade={reload} />}
    </div>
  );
};
