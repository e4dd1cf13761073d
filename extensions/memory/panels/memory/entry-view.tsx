/** One entry: what it says and said, where it is from, corrected and erased. */
import {
  addressOf,
  Button,
  confirmed,
  daemon,
  dateTime,
  DiffView,
  Facts,
  Fold,
  FormDialog,
  go,
  may,
  notify,
  type OutputOf,
  PanelBody,
  PanelHead,
  Section,
  Shown,
  TextArea,
  useFresh,
  useLoaded,
  useOffered,
  useState,
} from '@svc/kit';
import { t } from './words.js';

type Shape = OutputOf<'getMemoryHistory'>;

export const EntryView = ({ id }: { id: string }) => {
  const entry = useLoaded(`memory entry ${id}`, (signal) => daemon.call('getMemoryHistory', { memory_id: id }, { signal }));
  const [isEditing, setEditing] = useState(false);
  useFresh(() => entry.reload(), ['memory']);
  const erase = async (): Promise<void> => {
    if (!(await confirmed({ title: t('erase_title'), text: t('erase_text'), action: t('erase'), isDangerous: true }))) return;
    const { still_held_by: held } = await daemon.call('deleteMemory', { memory_id: id });
    notify(t(held.some(({ kind }) => kind === 'conversation') ? 'erased_held' : 'erased'));
    go('memory');
  };
  return (
    <>
      <PanelHead title={t('entry')} back={{ href: addressOf('memory', []), label: t('title') }} />
      <PanelBody>
        <Shown of={entry} lines={8}>
          {(shape) => (
            <div class="stack">
              <p class="memory-text">
                <bdi>{shape.memory.content}</bdi>
              </p>
              <Details memory={shape.memory} />
              {may('memory.write') && (
                <div class="memory-actions">
                  <Button onPress={() => setEditing(true)}>{t('correct')}</Button>
                  <Button kind="danger" onPress={erase}>
                    {t('erase')}
                  </Button>
                </div>
              )}
              <Versions shape={shape} />
              {isEditing && <EditForm id={id} content={shape.memory.content} onClose={() => setEditing(false)} onDone={() => entry.reload()} />}
            </div>
          )}
        </Shown>
      </PanelBody>
    </>
  );
};

const Details = ({ memory }: { memory: Shape['memory'] }) => {
  const isOffered = useOffered();
  const { session_id: session, superseded_by: replaced } = memory;
  return (
    <Facts
      rows={[
        [t('level'), t(memory.level)],
        [t('source'), memory.origin === null ? memory.source : `${memory.source} · ${memory.origin.source} (${memory.origin.labels.join(', ')})`],
        [t('confidence'), `${Math.round(memory.confidence * 100)} %`],
        [t('when'), dateTime(memory.created_at)],
        ...(memory.user_id === null ? [] : [[t('person'), memory.user_id] as const]),
        ...(memory.tags.length === 0 ? [] : [[t('tags'), memory.tags.join(', ')] as const]),
        ...(session === null
          ? []
          : [[t('said_in'), isOffered('chat') && memory.agent_id !== null ? <a href={addressOf('chat', [memory.agent_id, session])}>{t('conversation')}</a> : session] as const]),
        ...(replaced === null ? [] : [[t('replaced'), <a href={addressOf('memory', ['entry', replaced])}>{t('now_holds')}</a>] as const]),
      ]}
    />
  );
};

const Versions = ({ shape: { memory, versions } }: { shape: Shape }) =>
  versions.length === 0 ? null : (
    <Section title={t('history')}>
      {versions.map(({ content, replaced_at: at }, index) => (
        <Fold key={at + String(index)} open={index === 0} summary={t('until', { when: dateTime(at) })}>
          <DiffView before={content} after={versions[index - 1]?.content ?? memory.content} label={t('difference')} />
        </Fold>
      ))}
    </Section>
  );

const EditForm = ({ id, content, onClose, onDone }: { id: string; content: string; onClose: () => void; onDone: () => void }) => {
  const [typed, setTyped] = useState(content);
  const save = async (): Promise<void> => {
    await daemon.call('updateMemory', { memory_id: id, body: { content: typed } });
    notify(t('saved'));
    onDone();
    onClose();
  };
  return (
    <FormDialog title={t('correct')} action={t('save')} canSubmit={typed.trim() !== '' && typed !== content} onSubmit={save} onClose={onClose}>
      <TextArea label={t('content')} value={typed} onValue={setTyped} autofocus rows={6} />
    </FormDialog>
  );
};
