/** The limits of all agents, or of one. */
import { daemon, FormDialog, notify, TextField, useState } from '@svc/kit';
import { t } from './words.js';

export interface Limits {
  readonly hourly_limit_usd: number;
  readonly daily_limit_usd: number;
  readonly monthly_limit_usd: number;
  /** Of the limits of all agents only. */
  readonly idle_limit_usd?: number;
}

const FIELDS = [
  { field: 'daily_limit_usd', label: 'per_day' },
  { field: 'monthly_limit_usd', label: 'per_month' },
  { field: 'hourly_limit_usd', label: 'per_hour' },
] as const;
const IDLE = { field: 'idle_limit_usd', label: 'idle' } as const;

type Typed = Readonly<Record<keyof Limits, string>>;

const isAmount = (text: string): boolean => text.trim() !== '' && Number(text) >= 0 && Number.isFinite(Number(text));

export const LimitsForm = ({ agent, limits, onClose, onSaved }: { agent?: { readonly id: string; readonly name: string }; limits: Limits; onClose: () => void; onSaved: () => void }) => {
  const [typed, setTyped] = useState<Typed>({
    daily_limit_usd: String(limits.daily_limit_usd),
    monthly_limit_usd: String(limits.monthly_limit_usd),
    hourly_limit_usd: String(limits.hourly_limit_usd),
    idle_limit_usd: String(limits.idle_limit_usd ?? 0),
  });
  const fields = agent === undefined ? [...FIELDS, IDLE] : FIELDS;
  const isWhole = fields.every(({ field }) => isAmount(typed[field]));
  const save = async (): Promise<void> => {
    const body = { daily_limit_usd: Number(typed.daily_limit_usd), monthly_limit_usd: Number(typed.monthly_limit_usd), hourly_limit_usd: Number(typed.hourly_limit_usd) };
    await (agent === undefined ? daemon.call('updateBudget', { body: { ...body, idle_limit_usd: Number(typed.idle_limit_usd) } }) : daemon.call('updateAgentBudget', { id: agent.id, body }));
    notify(t('saved'));
    onSaved();
    onClose();
  };
  return (
    <FormDialog title={agent === undefined ? t('edit_title') : t('edit_agent', { agent: agent.name })} action={t('save')} canSubmit={isWhole} onSubmit={save} onClose={onClose}>
      {fields.map(({ field, label }, index) => (
        <TextField
          key={field}
          label={t(label)}
          hint={field === IDLE.field ? t('idle_hint') : t('zero')}
          error={isAmount(typed[field]) ? undefined : t('not_a_number')}
          inputMode="decimal"
          autofocus={index === 0}
          value={typed[field]}
          onValue={(value) => setTyped({ ...typed, [field]: value })}
        />
      ))}
    </FormDialog>
  );
};
