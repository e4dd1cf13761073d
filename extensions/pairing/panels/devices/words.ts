/** What the panel of devices says. */
import { words } from '@svc/kit';

export const t = words({
  en: {
    pair: 'Pair a device',
    role: 'Role of the device',
    may_viewer: 'It only reads.',
    may_user: 'It chats, and changes what is yours.',
    may_admin: 'It sees everybody and changes settings.',
    may_owner: 'It may do everything.',
    get_code: 'Get a code',
    qr: 'QR code with the pairing code {code}',
    how: 'Scan this with the device, or type the code where its page asks for a key. It works once, for {seconds} more seconds.',
    local: 'The address works on this machine only. For others, set public_base_url under [pairing] in config.toml.',
    paired: 'The device is paired.',
  },
  zh: {
    pair: '配对设备',
    role: '设备的角色',
    may_viewer: '只能读取。',
    may_user: '可以对话，并修改你的内容。',
    may_admin: '可以查看所有人的内容并修改设置。',
    may_owner: '可以执行所有操作。',
    get_code: '获取配对码',
    qr: '配对码 {code} 的二维码',
    how: '用设备扫描，或在其页面要求密钥处输入配对码。只能使用一次，剩余 {seconds} 秒。',
    local: '该地址仅在本机有效。若供其他设备使用，请在 config.toml 的 [pairing] 中设置 public_base_url。',
    paired: '设备已配对。',
  },
});
