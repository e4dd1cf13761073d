/** Adding an entry, and bringing in a file of them. */
import { daemon, FormDialog, notify, Select, TextArea, TextField, useState } from '@svc/kit';
import { t } from './words.js';

interface FormProps {
  readonly agentId: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const PREVIEWED = 5;

export const AddForm = ({ agentId, onClose, onDone }: FormProps) => {
  const [content, setContent] = useState('');
  const [person, setPerson] = useState('');
  const [tags, setTags] = useState('');
  const [level, setLevel] = useState<'user' | 'agent' | 'session'>('user');
  const add = async (): Promise<void> => {
    const list = tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '');
    const { added } = await daemon.call('addMemory', {
      body: { content, level, tags: list, ...(agentId === '' ? {} : { agent_id: agentId }), ...(person.trim() === '' ? {} : { user_id: person.trim() }) },
    });
    notify(t(added === 0 ? 'known' : 'added'));
    onDone();
    onClose();
  };
  return (
    <FormDialog title={t('add_title')} action={t('add')} canSubmit={content.trim() !== ''} onSubmit={add} onClose={onClose}>
      <TextArea label={t('content')} value={content} onValue={setContent} autofocus rows={4} />
      <Select label={t('level')} value={level} onValue={(value) => setLevel(value as typeof level)} options={(['user', 'agent', 'session'] as const).map((one) => ({ value: one, label: t(one) }))} />
      <TextField label={t('person')} hint={t('person_hint')} value={person} onValue={setPerson} />
      <TextField label={t('tags')} hint={t('tags_hint')} value={tags} onValue={setTags} />
    </FormDialog>
  );
};

export const ImportForm = ({ agentId, onClose, onDone }: FormProps) => {
  const [rows, setRows] = useState<readonly unknown[]>();
  const [problem, setProblem] = useState<string>();
  const read = async (file: File | undefined): Promise<void> => {
    setRows(undefined);
    setProblem(undefined);
    if (!file) return;
    try {
      const parsed = JSON.parse(await file.text()) as unknown;
      const list = Array.isArray(parsed) ? parsed : (parsed as { memories?: unknown }).memories;
      if (Array.isArray(list)) setRows(list);
      else setProblem(t('no_rows'));
    } catch {
      setProblem(t('no_json'));
    }
  };
  const bring = async (): Promise<void> => {
    const { imported, skipped } = await daemon.call('importMemories', { id: agentId, body: { memories: [...(rows ?? [])] } });
    notify(t('imported', { imported, skipped }));
    onDone();
    onClose();
  };
  return (
    <FormDialog title={t('import_title')} action={t('import')} canSubmit={rows !== undefined && rows.length > 0} onSubmit={bring} onClose={onClose}>
      <p>{t('import_note')}</p>
      <label class="stack">
        {t('file')}
        <input type="file" accept="application/json,.json" onChange={(event) => void read(event.currentTarget.files?.[0])} />
      </label>
      {problem !== undefined && <p role="alert">{problem}</p>}
      {rows !== undefined && (
        <>
          <p>{t('rows', { count: rows.length })}</p>
          <ul>
            {rows.slice(0, PREVIEWED).map((row, index) => (
              <li key={index}>
                <bdi>{String((row as { content?: unknown } | null)?.content ?? '').slice(0, 160)}</bdi>
              </li>
            ))}
          </ul>
        </>
      )}
    </FormDialog>
  );
};
