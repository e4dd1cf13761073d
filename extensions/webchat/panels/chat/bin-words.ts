/** What the bin says. Loaded with it. */
import { words } from '@svc/kit';

export const dialogWords = words({
  en: {
    none_deleted: 'The bin is empty.',
    restore: 'Restore',
    restored: 'Conversation restored.',
    erase: 'Erase for good',
    erase_title: 'Erase this conversation?',
    erase_text: '“{name}” is erased with all its messages and versions. It cannot be restored.',
    erased: 'Conversation erased.',
    kept_until: 'erased on {date}',
  },
  zh: {
    none_deleted: '回收站是空的。',
    restore: '恢复',
    restored: '对话已恢复。',
    erase: '彻底删除',
    erase_title: '彻底删除这个对话？',
    erase_text: '“{name}”及其所有消息和版本将被彻底删除，无法恢复。',
    erased: '对话已彻底删除。',
    kept_until: '将于 {date} 彻底删除',
  },
});
