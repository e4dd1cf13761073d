/** What stands around tables and code; with the code that draws them, which comes later than the rest. */
import { words } from '@svc/kit';

export const t = words({
  en: {
    table: 'Table',
    code: 'Code',
    code_in: 'Code in {language}',
    formula: 'Formula',
    task_done: 'done',
    task_open: 'open',
  },
  zh: {
    table: '表格',
    code: '代码',
    code_in: '{language} 代码',
    formula: '公式',
    task_done: '已完成',
    task_open: '未完成',
  },
});
