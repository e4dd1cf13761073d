/** The text of a file. What is sent names the version that was read: a change made meanwhile is shown, never overwritten. */
import { bytes, Button, ChangedElsewhere, daemon, may, notify, type OutputOf, Review, SvcError, TextArea, useDraft, useState, whyNot } from '@svc/kit';
import { isProse, languageOf, MAX_IDENTITY_BYTES, MAX_WRITE_BYTES } from './tree.js';
import { t } from './words.js';

const sameText = (text: string): string => text;
/** A file of Windows stays one: a text field has line feeds alone. */
const withLinesOf = (before: string, text: string): string => (before.includes('\r\n') ? text.replaceAll(/\r?\n/g, '\r\n') : text);
const asTyped = (text: string): string => text.replaceAll('\r\n', '\n');

export const FileEditor = ({
  agentId,
  file,
  isGone,
  isIdentity,
  reload,
}: {
  agentId: string;
  file: OutputOf<'getAgentFile'>;
  /** It was deleted since it was read. */
  isGone: boolean;
  isIdentity: boolean;
  reload: () => void;
}) => {
  const draft = useDraft(`file ${agentId} ${file.name}`, { value: asTyped(file.content), version: file.rev });
  const [isReviewed, setReviewed] = useState(false);
  const limit = isIdentity ? MAX_IDENTITY_BYTES : MAX_WRITE_BYTES;
  const content = withLinesOf(file.content, draft.value);
  const size = draft.isDirty ? new TextEncoder().encode(content).byteLength : file.size_bytes;
  const isTooLong = size > limit;
  const isFixed = !may('files.write') || (isTooLong && !draft.isDirty);
  const save = async (): Promise<void> => {
    try {
      const { rev } = await daemon.call('putAgentFile', { id: agentId, filename: file.name, body: { content, encoding: file.encoding, expected: isGone ? null : String(draft.version) } });
      setReviewed(false);
      draft.saved(rev);
      notify(t('saved', { name: file.name }));
      reload();
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'files_changed') throw error;
      setReviewed(false);
      reload();
    }
  };
  const hint = isFixed && isTooLong ? t('read_only_large', { limit: bytes(limit) }) : isIdentity ? t('hint_identity') : undefined;
  return (
    <div class="stack">
      {isGone && (
        <p class="gone" role="alert">
          {t('gone_now')}
        </p>
      )}
      <ChangedElsewhere draft={draft} textOf={sameText} />
      <div class="file-text">
        <TextArea
          isCode={!isProse(file.name)}
          language={languageOf(file.name)}
          rows={24}
          label={t('text_of', { name: file.name })}
          hint={hint}
          error={isTooLong && draft.isDirty ? t('limit', { size: bytes(size), limit: bytes(limit) }) : undefined}
          value={draft.value}
          readOnly={isFixed}
          onValue={draft.change}
        />
      </div>
      <div class="row wrap">
        <Button
          kind="primary"
          icon="file-diff"
          disabled={isFixed || isTooLong || draft.theirs !== undefined || !(draft.isDirty || isGone)}
          title={whyNot('files.write')}
          onPress={() => setReviewed(true)}
        >
          {t('review')}
        </Button>
        <Button disabled={!draft.isDirty} onPress={draft.drop}>
          {t('reset')}
        </Button>
        {draft.isDirty && <span class="muted small-text">{t('unsaved')}</span>}
      </div>
      {isReviewed && (
        <Review title={t('review_title', { name: file.name })} before={isGone ? '' : draft.base} after={draft.value} action={t('save')} onSave={save} onClose={() => setReviewed(false)} />
      )}
    </div>
  );
};
