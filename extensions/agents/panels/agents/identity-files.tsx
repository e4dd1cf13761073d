/** The files of an agent's folder that say who it is: chosen from those that have a meaning, and edited. */
import { address, bytes, ChangedElsewhere, daemon, Failure, may, notify, type OutputOf, Review, Section, Select, setQuery, Shown, SvcError, TextArea, useDraft, useLoaded, useState } from '@svc/kit';
import { SaveRow } from './save-row.js';
import { e } from './edit-words.js';

/** In the order in which the model reads them. */
const NAMES = ['SOUL', 'IDENTITY', 'USER', 'TOOLS', 'MEMORY', 'AGENTS', 'BOOTSTRAP', 'HEARTBEAT'] as const;
type Name = (typeof NAMES)[number];
type AboutKey = `about_${Lowercase<Name>}`;
const aboutKey = (name: Name): AboutKey => `about_${name.toLowerCase()}` as AboutKey; // one of the eight

const FOLDER = '.identity';
const MAX_BYTES = 32_768;

type Listed = OutputOf<'listAgentFiles'>['files'][number];
interface Standing {
  readonly path: string;
  readonly text: string;
  /** Null where the file does not exist. */
  readonly rev: string | null;
  readonly isText: boolean;
}

/** Of two places that a file may be in the first counts. */
const pathsOf = (name: Name): readonly [string, string] => [`${FOLDER}/${name}.md`, `${name}.md`];
const pathOf = (files: readonly Listed[], name: Name): string | undefined => pathsOf(name).find((path) => files.some((file) => file.name === path));

const listedPaths = (files: readonly Listed[], name: Name): string[] => {
  const path = pathOf(files, name);
  return path === undefined ? [] : [path];
};

const standing = async (agentId: string, name: Name, paths: readonly string[], signal: AbortSignal): Promise<Standing> => {
  for (const path of paths) {
    try {
      const { content, encoding, rev } = await daemon.call('getAgentFile', { id: agentId, filename: path }, { signal });
      return { path, text: content, rev, isText: encoding !== 'base64' };
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'files_not_found') throw error;
    }
  }
  return { path: pathsOf(name)[0], text: '', rev: null, isText: true };
};

const sameText = (text: string): string => text;

const Editor = ({ agentId, name, file, reload }: { agentId: string; name: Name; file: Standing; reload: () => void }) => {
  const draft = useDraft(`agent file ${agentId} ${file.path}`, { value: file.text, version: file.rev });
  const [isReviewed, setReviewed] = useState(false);
  const size = new TextEncoder().encode(draft.value).byteLength;
  const isTooLong = size > MAX_BYTES;
  const mayWrite = may('files.write');
  const save = async (): Promise<void> => {
    try {
      const { rev } = await daemon.call('putAgentFile', { id: agentId, filename: file.path, body: { content: draft.value, expected: draft.version === null ? null : String(draft.version) } });
      setReviewed(false);
      draft.saved(rev);
      notify(e('file_saved', { name: `${name}.md` }));
      reload();
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'files_changed') throw error;
      setReviewed(false);
      reload();
    }
  };
  if (!file.isText) return <p class="muted">{e('file_bytes')}</p>;
  return (
    <>
      <ChangedElsewhere draft={draft} textOf={sameText} />
      <TextArea
        rows={18}
        label={e('file_text', { name: file.path })}
        hint={file.rev === null ? e('file_new') : bytes(size)}
        error={isTooLong ? e('file_size', { count: size }) : undefined}
        value={draft.value}
        readOnly={!mayWrite}
        onValue={draft.change}
      />
      <SaveRow draft={draft} canSave={mayWrite && draft.isDirty && draft.theirs === undefined && !isTooLong} permission="files.write" onReview={() => setReviewed(true)} />
      {isReviewed && <Review title={e('file_review', { name: `${name}.md` })} before={draft.base} after={draft.value} action={e('save')} onSave={save} onClose={() => setReviewed(false)} />}
    </>
  );
};

const OneFile = ({ agentId, name, paths, onSaved }: { agentId: string; name: Name; paths: readonly string[]; onSaved: () => void }) => {
  const file = useLoaded(`agent file ${agentId} ${name} ${paths.join()}`, (signal) => standing(agentId, name, paths, signal), ['files']);
  const reload = (): void => {
    file.reload();
    onSaved();
  };
  return <Shown of={file}>{(data) => <Editor key={data.path} agentId={agentId} name={name} file={data} reload={reload} />}</Shown>;
};

export const IdentityFiles = ({ agentId }: { agentId: string }) => {
  const asked = address.value.query.file;
  const name = NAMES.find((one) => one === asked) ?? 'SOUL';
  const files = useLoaded(`agent files ${agentId}`, (signal) => daemon.call('listAgentFiles', { id: agentId }, { signal }), ['files']);
  if (files.data === undefined && files.error !== undefined) return <Failure title={e('files_off')} error={files.error} onRetry={files.reload} />;
  return (
    <div class="agent-form">
      <Section title={e('files')} note={e('files_note')}>
        <Shown of={files}>
          {({ files: listed, truncated }) => (
            <>
              <Select
                label={e('file')}
                hint={e(aboutKey(name))}
                value={name}
                onValue={(chosen) => setQuery({ file: chosen })}
                options={NAMES.map((one) => ({ value: one, label: `${one}.md${pathOf(listed, one) === undefined ? ` (${e('file_missing')})` : ''}` }))}
              />
              {/* What a long list left out may be there all the same. */}
              <OneFile key={name} agentId={agentId} name={name} paths={truncated ? pathsOf(name) : listedPaths(listed, name)} onSaved={files.reload} />
            </>
          )}
        </Shown>
      </Section>
    </div>
  );
};
