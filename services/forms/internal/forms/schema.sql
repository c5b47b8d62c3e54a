-- What all migrations make, without the tables of libs/db/schema.sql that every service has.
-- UPDATE_SCHEMA=1 make units PACKAGES=./libs/db RUN=TestTheWrittenSchemas writes this file; nothing runs it.

CREATE TABLE contact (
	id uuid NOT NULL,
	version bigint NOT NULL,
	name text NOT NULL,
	email text NOT NULL,
	owner_user_id bigint,
	organization_id uuid,
	CONSTRAINT contact_pkey PRIMARY KEY (id)
);
CREATE INDEX contact_organization ON contact (organization_id) WHERE (organization_id IS NOT NULL);
CREATE INDEX contact_owner ON contact (owner_user_id);

CREATE TABLE contact_alias (
	id uuid NOT NULL,
	contact_id uuid NOT NULL,
	CONSTRAINT contact_alias_pkey PRIMARY KEY (id)
);

CREATE TABLE form (
	id bigint DEFAULT next_number('form_id_seq'::regclass) NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	name text NOT NULL,
	status text NOT NULL,
	definition jsonb NOT NULL,
	created_at timestamp with time zone NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	deleted_at timestamp with time zone,
	CONSTRAINT form_pkey PRIMARY KEY (id),
	CONSTRAINT form_status_check CHECK ((status = ANY (ARRAY['draft', 'publish'])))
);

CREATE TABLE form_column (
	form_id bigint NOT NULL,
	key text NOT NULL,
	seq bigint GENERATED ALWAYS AS IDENTITY,
	label text NOT NULL,
	CONSTRAINT form_column_pkey PRIMARY KEY (form_id, key),
	CONSTRAINT form_column_form_id_fkey FOREIGN KEY (form_id) REFERENCES form(id)
);

CREATE TABLE organization (
	id uuid NOT NULL,
	version bigint NOT NULL,
	name text NOT NULL,
	CONSTRAINT organization_pkey PRIMARY KEY (id)
);

CREATE TABLE spam_digest (
	one boolean DEFAULT true NOT NULL,
	day date NOT NULL,
	until timestamp with time zone NOT NULL,
	CONSTRAINT spam_digest_pkey PRIMARY KEY (one),
	CONSTRAINT spam_digest_one_check CHECK (one)
);

CREATE TABLE submission (
	id uuid NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	form_id bigint NOT NULL,
	status text NOT NULL,
	result text NOT NULL,
	contact_id uuid,
	appointment_id uuid,
	"values" jsonb NOT NULL,
	answers jsonb NOT NULL,
	page text NOT NULL,
	email text NOT NULL,
	spam_reason text,
	error text,
	held bytea,
	created_at timestamp with time zone NOT NULL,
	people bytea[],
	requested_id uuid,
	asked_at timestamp with time zone,
	read_as smallint DEFAULT 0 NOT NULL,
	CONSTRAINT submission_pkey PRIMARY KEY (id),
	CONSTRAINT submission_result_check CHECK ((result = ANY (ARRAY['created', 'updated', 'unchanged', 'pending', 'none']))),
	CONSTRAINT submission_status_check CHECK ((status = ANY (ARRAY['received', 'spam']))),
	CONSTRAINT submission_form_id_fkey FOREIGN KEY (form_id) REFERENCES form(id)
);
CREATE INDEX submission_contact ON submission (contact_id, created_at DESC) WHERE (contact_id IS NOT NULL);
CREATE INDEX submission_form ON submission (form_id, created_at DESC, id DESC) INCLUDE (status);
CREATE INDEX submission_newest ON submission (created_at DESC, id DESC);
CREATE INDEX submission_people ON submission USING gin (people);
CREATE INDEX submission_read_as ON submission (read_as, id);
CREATE INDEX submission_requested ON submission (requested_id) WHERE (contact_id IS NULL);
CREATE INDEX submission_spam ON submission (created_at) WHERE (status = 'spam');
CREATE INDEX submission_unanswered ON submission (COALESCE(asked_at, created_at)) WHERE ((status = 'received') AND (result = 'pending'));
CREATE INDEX submission_unread ON submission (id) WHERE (people IS NULL);
CREATE TRIGGER submission_counted_delete AFTER DELETE ON submission REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION submission_counted();
CREATE TRIGGER submission_counted_insert AFTER INSERT ON submission REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION submission_counted();
CREATE TRIGGER submission_counted_update AFTER UPDATE ON submission REFERENCING OLD TABLE AS gone NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION submission_counted();

CREATE OR REPLACE FUNCTION submission_counted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
		begin
			case tg_op
			when 'INSERT' then
				insert into row_count select 'submission', array[form_id::text, status], count(*) from changed group by 2;
			when 'DELETE' then
				insert into row_count select 'submission', array[form_id::text, status], -count(*) from gone group by 2;
			else
				insert into row_count select 'submission', key, sum(n) from (select array[form_id::text, status] as key, 1 as n from changed union all select array[form_id::text, status], -1 from gone) x
					group by key having sum(n) <> 0;
			end case;
			return null;
		end $function$;
