/** What the panel of the inbox says. */
import { words } from '@svc/kit';

export const t = words({
  en: {
    title: 'Inbox',
    note: 'What waits for you and your agents.',
    files: 'Files',
    processed: '{count} processed',
    approvals: 'Approvals',
    tasks: 'Tasks',
    on: 'Text files in {directory} become messages for your agents.',
    off: 'Text files in {directory} are not read. Set [inbox] enabled = true.',
    to_approvals: 'Approvals',
    to_tasks: 'Tasks',
    skipped: 'Files that were left',
    file: 'File',
    reason: 'Why',
    none: 'Nothing waits.',
  },
  zh: {
    title: '收件箱',
    note: '等待你和智能体处理的内容。',
    files: '文件',
    processed: '已处理 {count} 个',
    approvals: '审批',
    tasks: '任务',
    on: '{directory} 中的文本文件会成为发给智能体的消息。',
    off: '未读取 {directory} 中的文本文件。请设置 [inbox] enabled = true。',
    to_approvals: '审批',
    to_tasks: '任务',
    skipped: '未处理的文件',
    file: '文件',
    reason: '原因',
    none: '没有等待的内容。',
  },
});
