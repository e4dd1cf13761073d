/** What the way back from a call says. Loaded with it. */
import { words } from '@svc/kit';

export const t = words({
  en: {
    undo: 'Undo',
    title: 'Undo this call?',
    text: 'These files become what they were before the call, without what was changed since: {files}.',
    nothing: 'No file differs from what it was before the call.',
    stays: 'Files that were created later stay: {files}.',
    done: 'Files restored: {count}.',
    partly: 'Files restored: {count}. These could not be written: {files}.',
  },
  zh: {
    undo: '撤销',
    title: '撤销此调用？',
    text: '这些文件会恢复到调用之前的状态，之后的更改会丢失：{files}。',
    nothing: '没有文件与调用之前不同。',
    stays: '之后创建的文件会保留：{files}。',
    done: '已恢复 {count} 个文件。',
    partly: '已恢复 {count} 个文件。以下文件无法写入：{files}。',
  },
});
