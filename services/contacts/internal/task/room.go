package task

import (
	_ "embed"
	"net/http"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Room keeps tasks.
type Room struct{ *app.Kit }

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Personal:  app.Personal{Holds: map[string]app.Holds{"task": app.People}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.TaskTopic, Table: "task", Emit: publish})},
	}
}

//go:embed examples.json
var examples []byte

const failLinked = "The contact or the organization is in the trash. Restore it first."

// Tasks declares the operations on tasks.
func (r *Room) Tasks(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "find-tasks", Route: "GET /tasks", Perm: auth.ViewContacts, Record: "task",
		Doc: "List tasks: open ones by the day they are due, those without a day last, then done ones, newest first.",
		Use: "Use it to see what is to do, for whom and about whom: done=false with due_to yesterday is what is overdue. Tasks of records in the trash are left out. Answers with one page and next_cursor."}, r.findTasks)
	op.Add(set, op.Op{ID: "create-task", Undo: op.Undo{By: "delete-task"}, Route: "POST /tasks", Perm: auth.EditContacts, Record: "task", Status: http.StatusCreated,
		Doc:   "Create a task, for somebody or nobody yet, about a contact, an organization, an appointment or nothing of these.",
		Use:   "Use it to remember that something has to be done. With an appointment alone it is about that appointment's client too. Answers with the task.",
		Fails: op.Fails{"svc_not_found": "There is no such contact, organization or appointment.", "svc_invalid_status": failLinked}}, r.createTask)
	op.Add(set, op.Op{ID: "get-task", Route: "GET /tasks/{id}", Perm: auth.ViewContacts, Record: "task",
		Doc: "Get a task.",
		Use: "Use it with an id from find-tasks. What it is about is null where you may not see it."}, r.getTask)
	op.Add(set, op.Op{ID: "update-task", Undo: op.Undo{By: "update-task"}, Versioned: true, Route: "PATCH /tasks/{id}", Perm: auth.EditContacts, Record: "task", Idempotent: true,
		Doc:   "Change a task; what is left out stays.",
		Use:   "Use it for another day, another person or other words. complete-task ticks it off. Answers with the task.",
		Fails: op.Fails{"svc_invalid_status": failLinked}}, r.updateTask)
	op.Add(set, op.Op{ID: "delete-task", Undo: op.Undo{Never: op.ForGood}, Versioned: true, Route: "DELETE /tasks/{id}", Perm: auth.EditContacts, Record: "task",
		Doc: "Delete a task for good.",
		Use: "Use it for a task that was a mistake; what was done is completed by complete-task instead. Timelines keep what they say of it."}, r.deleteTask)
	op.Add(set, op.Op{ID: "complete-task", Undo: op.Undo{By: "reopen-task"}, Route: "POST /tasks/{id}/done", Perm: auth.EditContacts, Record: "task", Idempotent: true,
		Doc: "Mark a task as done. Repeated, it changes nothing.",
		Use: "Use it once what the task asks for has been done. reopen-task takes it back. Answers with the task."}, r.completeTask)
	op.Add(set, op.Op{ID: "reopen-task", Undo: op.Undo{By: "complete-task"}, Route: "POST /tasks/{id}/reopen", Perm: auth.EditContacts, Record: "task", Idempotent: true,
		Doc: "Mark a task as open again. Repeated, it changes nothing.",
		Use: "Use it to undo complete-task. Answers with the task."}, r.reopenTask)
}
