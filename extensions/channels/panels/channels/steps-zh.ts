/** By the adapter. */
export const STEPS_ZH: Readonly<Record<string, readonly string[]>> = {
  telegram: ['在 Telegram 中打开 @BotFather，发送 /newbot。', '复制它给你的令牌。', '把令牌粘贴到这里。', '给你的机器人写消息，然后用它回答的代码允许你自己。'],
  discord: [
    '在 discord.com/developers 创建一个应用，打开它的 Bot 页面。',
    '在那里打开 “Message Content Intent”，并复制令牌。',
    '在 OAuth2 页面生成一个地址，范围为 bot，权限为查看频道、发送消息和读取消息历史；打开这个地址即可邀请机器人。',
    '把令牌粘贴到这里，给机器人写消息，然后用它回答的代码允许你自己。',
  ],
  slack: [
    '在 api.slack.com/apps 创建一个应用，打开 Socket Mode；复制带有 connections:write 范围的应用级令牌（xapp-…）。',
    '在 OAuth & Permissions 页面添加机器人范围：app_mentions:read、channels:history、groups:history、im:history、mpim:history、channels:read、groups:read、im:read、mpim:read、chat:write、files:write 和 users:read。',
    '在 Event Subscriptions 页面添加机器人事件：app_mention、message.channels、message.groups、message.im 和 message.mpim；在 App Home 页面允许给应用发消息。',
    '安装应用，复制机器人令牌（xoxb-…），把两个令牌粘贴到这里。',
    '如果 svc 有公开的 https 地址，Slack 可以直接调用它，而不用 Socket Mode：把 Basic Information 页面的签名密钥存到这里，并在 Event Subscriptions 的 Request URL 中填写该地址加上 /api/channels/slack/webhook。',
    '邀请机器人进入一个频道，或给它写消息，然后用它回答的代码允许你自己。',
  ],
  matrix: ['在你的主服务器上为机器人注册一个用户。', '复制它的访问令牌：在 Element 的“所有设置”的“帮助及关于”中。', '填写主服务器的地址和令牌。', '邀请机器人进入一个未加密的房间，并给它写消息。'],
  email: [
    '为它准备一个单独的邮箱：发到那里的每封邮件都会被读取。',
    '填写邮箱的 IMAP 和 SMTP 服务器地址。',
    '填写用户名和密码；许多服务商要求使用应用专用密码。',
    '给它写一封邮件，然后用它回答的代码允许你自己。',
  ],
  webhook: ['选择一段长的随机文本作为密钥。', '如果你想收到回答，请填写回答发送到的地址。', '把用密钥签名的消息发送到这个渠道的端点。'],
  ntfy: ['选择一个没人能猜到的主题：知道它名字的人都能给你的智能体写消息。', '填写主题；如果是你自己的服务器，还要填写它的地址和访问令牌。', '在 ntfy 应用中订阅这个主题。'],
  mqtt: ['填写代理的地址，例如 mqtt://broker.local:1883 或 mqtts://broker.example.com。', '填写智能体收听的主题，以及它回答的主题。', '如果代理要求，请填写用户名和密码。'],
  sidecar: ['在 config.toml 的 [[sidecar_channels]] 中添加程序。', '保存它需要的值，例如令牌。'],
};
