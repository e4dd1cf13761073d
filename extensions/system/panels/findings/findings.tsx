/** What checks found, each with what fixes it: another panel, a press, or words for whoever sits at the machine. */
import { Button, confirmed, Icon, type IconName, LinkButton, needs, notify } from '@svc/kit';
import { t, titleOf } from './finding-words.js';
import { type Doing, type Finding, fixingOf } from './fixes.js';

const ICONS: Readonly<Record<Finding['result'], IconName>> = { pass: 'circle-check', warn: 'triangle-alert', fail: 'circle-x' };

interface FindingsProps {
  readonly findings: readonly Finding[];
  readonly label: string;
  /** Ids, by which a check of an extension is known. */
  readonly extensions: readonly string[];
  readonly isOffered: (panel: string) => boolean;
  /** After something was fixed here. */
  readonly onFixed: () => void;
}

export const Findings = ({ findings, label, ...rest }: FindingsProps) => (
  <ul class="findings" aria-label={label}>
    {findings.map((finding) => (
      <Row key={`${finding.check} ${finding.message}`} finding={finding} {...rest} />
    ))}
  </ul>
);

const Row = ({ finding, extensions, isOffered, onFixed }: Omit<FindingsProps, 'findings' | 'label'> & { finding: Finding }) => {
  const { check, result, message, fix } = finding;
  const { leads, does } = fixingOf(finding, extensions);
  const open = leads.filter(({ panel }) => isOffered(panel));
  const isFixedHere = open.length + does.length > 0;
  const act = async ({ question, label, run }: Doing): Promise<void> => {
    if (question && !(await confirmed({ ...(await question()), action: label, isDangerous: true }))) return;
    notify(await run());
    onFixed();
  };
  return (
    <li class={`finding ${result}`}>
      <Icon name={ICONS[result]} />
      <div class="finding-body">
        <h3>
          <span class="off-screen">{t(result)}: </span>
          {titleOf(check)}
        </h3>
        <p>{message}</p>
        {fix !== undefined && !isFixedHere && (
          <p class="finding-fix">
            <span class="muted">{t('on_machine')}</span> {fix}
          </p>
        )}
        {isFixedHere && (
          <div class="row wrap">
            {open.map(({ label, icon, href }) => (
              <LinkButton key={label} small icon={icon} href={href}>
                {label}
              </LinkButton>
            ))}
            {does.map((doing) => (
              <Button key={doing.label} small icon={doing.icon} onPress={() => act(doing)} {...needs(doing.permission)}>
                {doing.label}
              </Button>
            ))}
          </div>
        )}
      </div>
    </li>
  );
};
