/** Thumbs for an answer, and why. */
import { daemon, FormDialog, IconButton, may, TextArea, useState } from '@svc/kit';
import type { Turn } from './turns.js';
import { t } from './words.js';

type Run = NonNullable<Turn['run']>;

const MAX_CHARS = 1_000;
const VALUES = ['up', 'down'] as const;

export const Rating = ({ run, onRated }: { run: Run; onRated: (run: Run) => Promise<void> }) => {
  const [isCommenting, setCommenting] = useState(false);
  const { rating, run_id: id } = run;
  if (!may('runs.write')) return null;
  const rate = async (value: 'up' | 'down' | null, comment: string | null): Promise<void> => {
    await daemon.call('setRunRating', { id, body: { value, comment } });
    await onRated(run);
  };
  return (
    <span class={rating ? 'rating is-rated' : 'rating'} role="group" aria-label={t('rating')}>
      {VALUES.map((value) => {
        const isChosen = rating?.value === value;
        return <IconButton key={value} small icon={`thumbs-${value}`} label={t(`rate_${value}`)} pressed={isChosen} onPress={() => rate(isChosen ? null : value, rating?.comment ?? null)} />;
      })}
      {rating && <IconButton small icon="message-square" label={t(rating.comment === null ? 'rating_comment' : 'rating_comment_edit')} onPress={() => setCommenting(true)} />}
      {rating && isCommenting && <Commenting before={rating.comment ?? ''} onSave={(text) => rate(rating.value, text)} onClose={() => setCommenting(false)} />}
    </span>
  );
};

const Commenting = ({ before, onSave, onClose }: { before: string; onSave: (text: string | null) => Promise<void>; onClose: () => void }) => {
  const [text, setText] = useState(before);
  const save = async (): Promise<void> => {
    await onSave(text.trim() === '' ? null : text.trim());
    onClose();
  };
  return (
    <FormDialog title={t('rating_comment')} action={t('save')} onSubmit={save} onClose={onClose} canSubmit={text.length <= MAX_CHARS}>
      <TextArea label={t('rating_why')} value={text} onValue={setText} rows={3} autofocus error={text.length > MAX_CHARS ? t('too_long', { limit: MAX_CHARS }) : undefined} />
    </FormDialog>
  );
};
