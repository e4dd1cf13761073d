/** What tags say. Loaded with it. */
import { words } from '@svc/kit';

export const dialogWords = words({
  en: {
    tags_hint: 'Up to 8 short words, with spaces between them.',
    tags_known: 'Tags that you use',
    tags_add: 'Add tags to {count} conversations',
  },
  zh: {
    tags_hint: '最多 8 个短词，用空格分隔。',
    tags_known: '您使用的标签',
    tags_add: '为 {count} 个对话添加标签',
  },
});
