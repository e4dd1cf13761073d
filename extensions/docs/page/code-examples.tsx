/** An operation as code, in the language that was chosen last. */
import { CopyButton, keep, kept, Select, signal, Tabs, useContext, useState } from '@svc/kit';
import { CODE_LANGUAGES, codeFor, type CodeLanguage, LANGUAGE_NAMES } from './code.js';
import { t } from './docs-words.js';
import type { Operation } from './openapi.js';
import { ApiContext } from './prose.js';
import { requestSample } from './sample.js';

const KEPT = 'svc.docs.language';
const chosen = signal<CodeLanguage>(CODE_LANGUAGES.find((language) => language === kept(KEPT)) ?? 'curl');

const choose = (id: string): void => {
  const language = CODE_LANGUAGES.find((one) => one === id);
  if (language === undefined) return;
  keep(KEPT, language);
  chosen.value = language;
};

export const CodeBlock = ({ text, label }: { text: string; label: string }) => (
  <div class="code-example">
    <pre tabIndex={0} role="region" aria-label={label}>
      <code>{text}</code>
    </pre>
    <CopyButton text={text} />
  </div>
);

export const CodeExamples = ({ operation }: { operation: Operation }) => {
  const { schemas } = useContext(ApiContext);
  const [example, setExample] = useState(0);
  const examples = operation.body?.examples ?? [];
  const text = codeFor(chosen.value, { operation, sample: requestSample(operation, schemas, example), origin: location.origin });
  return (
    <Tabs label={t('code')} chosen={chosen.value} onChoose={choose} tabs={CODE_LANGUAGES.map((id) => ({ id, label: LANGUAGE_NAMES[id] }))}>
      <div class="stack code-tab">
        {examples.length > 1 && (
          <Select
            label={t('example_of')}
            bare
            value={String(example)}
            onValue={(value) => setExample(Number(value))}
            options={examples.map(({ title }, index) => ({ value: String(index), label: title }))}
          />
        )}
        <CodeBlock text={text} label={LANGUAGE_NAMES[chosen.value]} />
      </div>
    </Tabs>
  );
};
