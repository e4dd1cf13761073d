/** The form that a new agent and one that is there have in common. */
import { Section, TextArea, TextField } from '@svc/kit';
import { e } from './edit-words.js';
import { type FieldsProps, GrantFields } from './grant-fields.js';
import { ModelField } from './model-field.js';
import { t } from './words.js';

export const FormFields = ({ isPinned = false, isNew = false, ...props }: FieldsProps & { isPinned?: boolean; isNew?: boolean }) => {
  const { fields, faults, onChange, disabled } = props;
  return (
    <>
      <Section title={e('who')}>
        <TextField label={t('name')} hint={t('name_hint')} error={faults.name} value={fields.name} maxLength={256} disabled={disabled} onValue={(name) => onChange({ name })} />
        <TextField label={e('description')} hint={e('description_hint')} value={fields.description} maxLength={4_096} disabled={disabled} onValue={(description) => onChange({ description })} />
        <TextArea label={e('prompt')} hint={e(isNew ? 'prompt_hint_new' : 'prompt_hint')} rows={10} value={fields.prompt} disabled={disabled} onValue={(prompt) => onChange({ prompt })} />
      </Section>
      <Section title={e('how')}>
        <ModelField value={fields.model} pinned={isPinned} disabled={disabled} onValue={(model) => onChange({ model })} />
        <div class="agent-pair">
          <TextField
            label={e('temperature')}
            hint={e('temperature_hint')}
            error={faults.temperature}
            value={fields.temperature}
            disabled={disabled}
            onValue={(temperature) => onChange({ temperature })}
          />
          <TextField label={e('max_tokens')} hint={e('max_tokens_hint')} error={faults.max_tokens} value={fields.max_tokens} disabled={disabled} onValue={(max_tokens) => onChange({ max_tokens })} />
        </div>
      </Section>
      <GrantFields {...props} />
      <Section title={e('limits_title')} note={e('limits_note')}>
        <div class="agent-pair">
          <TextField label={e('cost_hour')} hint={e('cost_hint')} error={faults.cost_hour} value={fields.cost_hour} disabled={disabled} onValue={(cost_hour) => onChange({ cost_hour })} />
          <TextField label={e('cost_day')} hint={e('cost_hint')} error={faults.cost_day} value={fields.cost_day} disabled={disabled} onValue={(cost_day) => onChange({ cost_day })} />
        </div>
      </Section>
    </>
  );
};
