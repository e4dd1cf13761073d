import { words } from '@svc/kit';

export const chartWords = words({
  en: { time: 'Time', as_table: '{label}: table' },
  zh: { time: '时间', as_table: '{label}：表格' },
});
