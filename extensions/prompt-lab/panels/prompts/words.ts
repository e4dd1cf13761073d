/** What the panel of prompt versions says. */
import { words } from '@svc/kit';

export const t = words({
  en: {
    prompt: 'Prompt',
    compare_with: 'Compare with',
    version: 'Version {version}',
    difference: 'What differs from version {version}',
    alone: 'No other version',
    alone_text: 'Once there is another one, you see here what differs.',
  },
  zh: {
    prompt: '提示词',
    compare_with: '比较对象',
    version: '版本 {version}',
    difference: '与版本 {version} 的差异',
    alone: '没有其他版本',
    alone_text: '有了另一个版本后，这里会显示差异。',
  },
});
