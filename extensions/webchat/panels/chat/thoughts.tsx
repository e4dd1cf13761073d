/** What a model thought before it answered, as one line that unfolds; plain, as nothing of it was written to be read. */
import { Fold, Icon } from '@svc/kit';
import { t } from './words.js';

export const Thoughts = ({ text, isOpen }: { text: string; isOpen: boolean }) => (
  <Fold
    summary={
      <span class="tool-line">
        <Icon name={isOpen ? 'loader-circle' : 'brain'} size={16} spins={isOpen} />
        <span class="tool-name">{t(isOpen ? 'thinking' : 'thoughts')}</span>
      </span>
    }
  >
    <div class="thoughts" dir="auto">
      {text}
    </div>
  </Fold>
);
