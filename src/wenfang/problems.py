"""What can go wrong at the edges, as one table: a stable code, its HTTP status, and words.

A `Problem` is an expected failure that a person can mend. The server answers it as the error envelope
of docs/wire.md, the command line prints it as one line; both read this table. A row's words name what
happened, the value, and what to do; `{...}` are the problem's parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Language: TypeAlias = Literal["zh", "en"]
Param: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    status: int
    zh: str
    en: str


class Problem(Exception):  # noqa: N818 - an expected outcome with a code, like HTTP's problem details
    """An expected failure. `code` is a key of `PROBLEMS`; `params` are shown to people, so they
    hold no secret and no path that the person did not give."""

    def __init__(self, code: str, **params: Param) -> None:
        super().__init__(code)
        self.code = code
        self.params = params

    @property
    def status(self) -> int:
        return PROBLEMS[self.code].status

    def text(self, language: Language = "en") -> str:
        """The one line a person reads."""
        return words(self.code, self.params, language)


def words(code: str, params: dict[str, Param], language: Language) -> str:
    """The words of a code; a parameter that is missing reads as empty."""
    row = PROBLEMS[code]
    template = row.zh if language == "zh" else row.en
    return template.format_map(_Lenient(params)).strip()


class _Lenient(dict[str, Param]):
    def __missing__(self, key: str) -> str:
        return ""


def _row(code: str, status: int, zh: str, en: str) -> tuple[str, Row]:
    return code, Row(status=status, zh=zh, en=en)


PROBLEMS: dict[str, Row] = dict(
    (
        # The request
        _row("invalid_request", 400, "请求不对：{field} {problem}",
             "The request is not valid: {field} {problem}"),
        _row("not_found", 404, "没有这个地址：{path}", "There is nothing at {path}"),
        _row("method_not_allowed", 405, "这个地址不接受 {method}", "{method} is not allowed here"),
        _row("request_too_large", 413, "请求体超过 {limit} 字节的上限",
             "The request body is larger than the limit of {limit} bytes"),
        _row("host_refused", 403,
             "拒绝来自主机名 {host} 的访问；只接受 127.0.0.1、localhost 和 --public-url 给出的地址",
             "The host name {host} is refused; only 127.0.0.1, localhost and that of --public-url are answered"),
        _row("origin_refused", 403, "拒绝来自其他网站 {origin} 的请求",
             "Requests from the other site {origin} are refused"),
        # People
        _row("accounts_off", 404, "这里没有账户；用 wenfang serve --accounts 启动后才有",
             "There are no accounts here; wenfang serve --accounts begins them"),
        _row("login_required", 401, "请先登录，或者带上 API 密钥", "Log in first, or send an API key"),
        _row("login_failed", 401, "用户名或密码不对", "The name or the password is wrong"),
        _row("login_throttled", 429, "试得太多了；请 {seconds} 秒后再试",
             "Too many tries; try again in {seconds} s"),
        _row("rate_limited", 429, "每小时最多 {limit} 次；请 {seconds} 秒后再试",
             "At most {limit} times an hour; try again in {seconds} s"),
        _row("forbidden", 403, "没有做这件事的权限", "You are not allowed to do this"),
        _row("setup_done", 409, "管理员已经建好了；请登录", "There is an admin already; log in"),
        _row("setup_code_wrong", 403, "安装码不对；它在启动服务器的终端里",
             "The set-up code is wrong; it was printed where the server was started"),
        _row("password_weak", 422,
             "密码要有 {shortest} 到 {longest} 个字符，不能是用户名，也不能只是一两个字符的重复",
             "A password has {shortest} to {longest} characters, is not the name and more than one or two characters over and over"),
        _row("password_wrong", 403, "原来的密码不对", "The old password is wrong"),
        _row("user_not_found", 404, "没有这个用户：{id}", "There is no user {id}"),
        _row("user_exists", 409, "已经有叫 {name} 的用户", "There is a user {name} already"),
        _row("last_admin", 409, "至少要留一个能登录的管理员", "There has to be an admin who can log in"),
        _row("last_owner", 409, "项目至少要有一个所有者；请先交给别人",
             "A project has to have an owner; give it to someone else first"),
        _row("member_not_found", 404, "{id} 不是这个项目的成员", "{id} is no member of this project"),
        _row("key_not_found", 404, "没有这个密钥：{id}", "There is no key {id}"),
        _row("too_many_keys", 409, "最多 {limit} 个密钥；请先吊销不用的",
             "There are at most {limit} keys; revoke those that are not used"),
        # Projects, files, sessions, runs
        _row("project_not_found", 404, "没有这个项目：{id}", "There is no project {id}"),
        _row("session_not_found", 404, "没有这个会话：{id}", "There is no session {id}"),
        _row("run_not_found", 404, "没有这次运行：{id}", "There is no run {id}"),
        _row("file_not_found", 404, "没有这个文件：{path}", "There is no file {path}"),
        _row("trash_not_found", 404, "回收站里没有 {id}", "The trash holds no {id}"),
        _row("folder_not_found", 409, "{path} 原来所在的文件夹在回收站里；请先恢复那个文件夹",
             "The folder that {path} was in is in the trash; bring it back first"),
        _row("revision_not_found", 404, "{path} 没有第 {revision} 个版本", "{path} has no version {revision}"),
        _row("file_busy", 409, "{path} 一直在被别人改动；请稍后再试",
             "{path} is being changed by someone else all the time; try again in a moment"),
        _row("order_fixed", 409, "磁盘文件夹里的文件按名字排序；请改名字",
             "Files in a folder of the disk have the order of their names; rename them"),
        _row("content_damaged", 500, "数据库里的内容 {id} 已损坏；请从备份恢复",
             "The text {id} in the database is damaged; restore it from a backup"),
        _row("file_not_text", 415, "{path} 不是文本文件", "{path} is not a text file"),
        _row("file_too_large", 413, "{path} 太大（上限 {limit} 字节）",
             "{path} is too large (the limit is {limit} bytes)"),
        _row("path_invalid", 400, "路径不可用：{path} {problem}",
             "The path {path} cannot be used: {problem}"),
        _row("path_exists", 409, "{path} 已经存在；换一个名字", "{path} exists already; choose another name"),
        _row("revision_conflict", 409, "{path} 在你编辑期间被改动过；请先对比再保存",
             "{path} was changed since you opened it; compare before you save"),
        _row("run_active", 409, "这个会话正在运行；等它结束，或者追加一句话、停止它",
             "A run of this session is active; wait, steer it or stop it"),
        _row("run_finished", 409, "这次运行已经结束", "This run has ended"),
        _row("read_only", 403, "{path} 不能修改：项目目录不可写；请修好它的权限",
             "{path} cannot be changed: the project folder may not be written; mend its permissions"),
        # Documents that are imported
        _row("document_empty", 422, "{name} 里没有文字；请换一个文件", "{name} has no text in it; choose another file"),
        _row("document_too_large", 413, "{name} 有 {value} 字节，上限是 {limit}；请拆成几个文件",
             "{name} has {value} bytes, the limit is {limit}; split it into several files"),
        _row("document_too_long", 413, "{name} 的文字有 {value} 个字符，上限是 {limit}；请拆成几个文件",
             "The text of {name} has {value} characters, the limit is {limit}; split it into several files"),
        _row("document_lines", 413, "{name} 有 {value} 行，上限是 {limit}；请拆成几个文件",
             "{name} has {value} lines, the limit is {limit}; split it into several files"),
        _row("document_entries", 413, "{name} 里有 {value} 个文件，上限是 {limit}；请拆成几个压缩包",
             "{name} holds {value} files, the limit is {limit}; split it into several archives"),
        _row("document_part_too_large", 413, "{name} 里的 {part} 解压后有 {value} 字节，上限是 {limit}",
             "{part} in {name} unpacks to {value} bytes, the limit is {limit}; save the document in "
             "smaller pieces"),
        _row("document_unpacked", 413, "{name} 解压后超过 {limit} 字节的上限（已到 {value}）；请拆成几个文件",
             "{name} unpacks to more than the limit of {limit} bytes (it reached {value}); split it"),
        _row("document_bomb", 422, "{name} 里的 {part} 压缩了 {value} 倍，超过 {limit} 倍的上限，像是压缩炸弹；没有导入",
             "{part} in {name} is packed {value} times, more than the limit of {limit}; it looks like a "
             "zip bomb and was not imported"),
        _row("document_elements", 422, "{name} 的标记太多（{value}，上限 {limit}）；请另存为 txt 再导入",
             "{name} has too much markup ({value} elements, the limit is {limit}); save it as txt first"),
        _row("document_depth", 422, "{name} 的标记嵌套太深（{value} 层，上限 {limit}）；请另存为 txt 再导入",
             "The markup of {name} is nested too deeply ({value} levels, the limit is {limit}); save it "
             "as txt first"),
        _row("document_unsupported", 415, "{name} 是 {found} 文件，不能导入；请另存为 txt、md、docx、epub 或 html",
             "{name} is a {found} file, which cannot be imported; save it as txt, md, docx, epub or html"),
        _row("document_old_word", 415, "{name} 是旧版 Office 文件（.doc）；请用 Word 或 WPS 另存为 .docx 再导入",
             "{name} is a file of an older Office (.doc); save it as .docx with Word or LibreOffice first"),
        _row("document_not_text", 415, "{name} 不是文本文件，或编码无法识别；请另存为 UTF-8 的 txt",
             "{name} is no text, or its encoding is unknown; save it as txt in UTF-8"),
        _row("document_encrypted", 422, "{name} 有密码或版权保护；请去掉保护后再导入",
             "{name} is protected by a password or by DRM; remove the protection and import it again"),
        _row("document_damaged", 422, "{name} 已损坏或不完整 {part}；请重新保存或重新下载",
             "{name} is damaged or incomplete {part}; save or download it again"),
        _row("document_unsafe", 422, "{name} 里的 {part} 不安全（越界的路径、链接、重名或外部实体）；没有导入",
             "{part} in {name} is not safe (a path that leads outside, a link, a name that comes twice, or "
             "an entity); nothing was imported"),
        _row("document_is_archive", 415, "{name} 是压缩包，不是单个文档；请用“导入压缩包”",
             "{name} is an archive, not a document; import it as an archive"),
        _row("document_not_archive", 415, "{name} 不是 zip 压缩包；请重新打包成 zip",
             "{name} is no zip archive; pack it as zip"),
        _row("document_nested", 422, "压缩包里的 {name} 又是压缩包，没有展开；请先解压它",
             "{name} is an archive inside the archive and was not opened; unpack it first"),
        # Books that are exported
        _row("nothing_to_export", 409, "{name} 里没有可导出的文字；请先写一点，或选择别的文件夹或格式",
             "{name} holds no text to export; write something first, or choose another folder or format"),
        _row("export_too_large", 409, "文件超过 {limit} 个，不能一次导出；请分文件夹导出",
             "There are more than {limit} files, too many for one export; export folder by folder"),
        _row("output_exists", 409, "{path} 已经存在；用 -o 换一个名字，或用 --force 覆盖",
             "{path} exists already; choose another name with -o, or overwrite it with --force"),
        _row("output_unwritable", 500, "不能写入 {path}：{problem}；请修好权限，或用 -o 换一个地方",
             "{path} cannot be written: {problem}; mend the permissions or choose another place with -o"),
        # Folders that mirror projects
        _row("mirror_folder_missing", 404, "没有这个文件夹：{path}；请先建立它",
             "There is no folder {path}; create it first"),
        _row("mirror_inside_data", 409, "{path} 与数据目录 {data} 重叠，不能同步；请换一个文件夹",
             "{path} overlaps with the data directory {data} and cannot be synced; choose another folder"),
        _row("mirror_taken", 409, "{path} 已经与项目 {id} 同步；请换一个文件夹，或用 --project {id}",
             "{path} mirrors the project {id} already; choose another folder, or use --project {id}"),
        _row("mirror_busy", 409, "{path} 正在被另一次同步使用；等它结束再试",
             "Another sync is working in {path}; try again when it has ended"),
        _row("mirror_too_large", 413, "这个文件夹里的文件超过 {limit} 个，不能同步；请选择一个更小的文件夹",
             "The folder holds more than {limit} files, too many to sync; choose a smaller one"),
        _row("mirror_project_needed", 400, "{path} 还没有与任何项目同步；请用 --project 指定项目的名称或编号",
             "{path} mirrors no project yet; name one with --project, by its title or its id"),
        _row("project_unknown", 404, "没有名为 {name} 的文件夹，数据目录 {data} 里也没有这个项目；请检查 --project 和 --data",
             "There is no folder {name}, and no project of that name in the data directory {data}; check --project and --data"),
        _row("project_is_folder", 409, "{name} 的文件本来就在它自己的文件夹里，不需要同步",
             "The files of {name} are in a folder of their own already; there is nothing to sync"),
        _row("project_ambiguous", 409, "有 {count} 个项目都叫 {name}；请用编号指定：{ids}",
             "There are {count} projects called {name}; give the id of one: {ids}"),
        # The model
        _row("model_unavailable", 409,
             "没有可用的模型（{why}）。三种办法：wenfang model pull 下载内置模型；"
             "在设置里（或用 WENFANG_BASE_URL、WENFANG_API_KEY、WENFANG_MODEL）连接服务商；"
             "选择脚本演示（WENFANG_PROVIDER=scripted）",
             "There is no model to use ({why}). Three ways: `wenfang model pull` downloads the "
             "built-in one; connect a provider in the settings (or WENFANG_BASE_URL, "
             "WENFANG_API_KEY, WENFANG_MODEL); choose the scripted demo (WENFANG_PROVIDER=scripted)"),
        _row("nothing_to_probe", 409, "脚本演示按固定规则回答，没有什么可探测；请先选择一个模型",
             "The scripted demo follows fixed rules, so there is nothing to probe; choose a model first"),
        _row("probe_failed", 502, "探测没有做完：{problem}", "The probes could not be finished: {problem}"),
        _row("no_dialect", 502, "{model} 用哪种写法都调用不了工具；请换一个模型",
             "{model} calls tools in no dialect; choose another model"),
        _row("probe_active", 409, "正在探测写法；等它结束，或者取消",
             "A search for the dialect is running; wait for it or cancel it"),
        _row("pull_active", 409, "模型正在下载", "The model is being downloaded already"),
        _row("pull_failed", 502, "模型下载失败：{problem}", "The model could not be downloaded: {problem}"),
        _row("model_not_found", 404, "没有名为 {name} 的本地模型；wenfang model list 列出已有的",
             "There is no local model {name}; `wenfang model list` shows what is there"),
        # Settings
        _row("setting_locked", 409, "{field} 由环境变量 {variable} 固定；请在那里修改",
             "{field} is fixed by the environment variable {variable}; change it there"),
        _row("settings_invalid", 500, "设置文件 {file} 无法使用：{problem}。修正它，或者删掉后重新设置",
             "The settings file {file} cannot be used: {problem}. Mend it, or delete it and set up again"),
        _row("environment_invalid", 500, "环境变量 {variable} 的值不对：{problem}",
             "The environment variable {variable} is not valid: {problem}"),
        # The machine
        _row("data_unwritable", 507, "数据目录 {path} 不可写：{problem}。修好权限，或用 --data 换一个目录",
             "The data directory {path} cannot be written: {problem}. Mend its permissions or choose "
             "another with --data"),
        _row("disk_full", 507, "磁盘已满，没有保存；请腾出空间后再试",
             "The disk is full and nothing was saved; free some space and try again"),
        _row("database_newer", 500, "数据库 {path} 由更新的版本写成（{found}）；请升级 wenfang，或用 --data 换一个目录",
             "The database {path} was written by a newer version ({found}); upgrade wenfang or choose "
             "another data directory with --data"),
        _row("database_broken", 500, "数据库 {path} 无法使用：{problem}。从备份恢复，或用 --data 换一个目录",
             "The database {path} cannot be used: {problem}. Restore a backup or choose another data "
             "directory with --data"),
        _row("database_busy", 409, "数据库正被另一台机器 {host} 使用；请先停掉那边",
             "The database is in use by another machine, {host}; stop that one first"),
        _row("database_locked", 503, "数据库 {path} 一直被另一个进程锁住；稍后重试，或先停掉那个进程",
             "The database {path} stays locked by another process; try again later or stop that process"),
        _row("database_unreachable", 503, "连不上数据库服务器 {path}：{problem}；请检查服务器和地址，再试一次",
             "The database server {path} cannot be used: {problem}; check the server and its address, then "
             "try again"),
        _row("port_taken", 500, "端口 {port} 已被占用；用 --port 换一个，或 --port 0 自动选择",
             "Port {port} is taken; choose another with --port, or --port 0 for a free one"),
        _row("address_unusable", 500, "不能监听 {host}：{problem}；用 --host 127.0.0.1",
             "Cannot listen on {host}: {problem}; use --host 127.0.0.1"),
        _row("project_path_missing", 404, "没有这个项目目录：{path}；先建立它，或改正 --project",
             "There is no project folder {path}; create it or correct --project"),
        _row("script_invalid", 400, "文件 {path} 有错：{problem}；改正后再试",
             "The file {path} has an error: {problem}; correct it and try again"),
        _row("empty_request", 400, "没有要做的事；请写出任务，例如：wenfang run \"数一数 data 里的文件\"",
             "There is nothing to do; write a task, for example: wenfang run \"Count the files in data\""),
        _row("not_ready", 503, "服务还没有就绪", "The service is not ready"),
        _row("shutting_down", 503, "服务正在关闭；稍后重试", "The service is shutting down; try again later"),
        _row("internal_error", 500, "程序内部出错；日志里有详情", "An internal error; the log has the details"),
    )
)  # fmt: skip
